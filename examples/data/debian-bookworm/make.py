#!/usr/bin/env python3
"""Builds the dependency graph of Debian's packages from a package index.

    make.py INDEX OUT_DIR [--release RELEASE]     write debian-bookworm.npz, debian-small.npz, counts.json
    make.py --self-test                           check the rules on a six-package index

INDEX is a Debian `Packages` file: plain, .gz, .xz, or .lz4 as apt stores it. RELEASE is the `Release`
or `InRelease` file that lists it; with it, INDEX is verified and the snapshot's date is recorded.
Needs the Python 3.8 standard library, nothing else. README.md beside this file states the rules.
"""

# SPDX-License-Identifier: Apache-2.0

import argparse
import collections
import gzip
import hashlib
import io
import json
import lzma
import os
import re
import struct
import subprocess
import sys
import zipfile
import zlib

APT_HELPER = "/usr/lib/apt/apt-helper"
FULL_MIN_WORD = 20  # a word is a feature when it occurs in at least this many packages
SMALL_MIN_WORD = 5
SMALL_CLASSES = 12
SMALL_QUOTA = 250  # nodes a class in the small graph


def fail(message):
    sys.exit("make.py: " + message)


# ---- reading the index ---------------------------------------------------------------------------


def read_index(path):
    """The uncompressed bytes of a Packages file; the magic number decides, not the file's name."""
    try:
        with open(path, "rb") as file:
            head = file.read(6)
            file.seek(0)
            if head.startswith(b"\x1f\x8b"):
                return gzip.decompress(file.read())
            if head.startswith(b"\xfd7zXZ\x00"):
                return lzma.decompress(file.read())
            if not head.startswith(b"\x04\x22\x4d\x18"):
                return file.read()
    except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
        fail(f"{path}: cannot be read: {error}")
    # The standard library has no lz4; the program that wrote the file has.
    if not os.path.exists(APT_HELPER):
        fail(f"{path}: lz4 needs {APT_HELPER}, which is not here; unpack the file with `lz4 -d` first")
    done = subprocess.run([APT_HELPER, "cat-file", path], stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        fail(f"{path}: {APT_HELPER} cat-file ended with status {done.returncode}")
    return done.stdout


def parse_records(data, path):
    """Stanzas as dictionaries. Only the first line of a field is kept: no field used here folds."""
    records, record = [], {}
    try:
        lines = data.decode("utf-8").split("\n")
    except UnicodeDecodeError as error:
        fail(f"{path}: byte {error.start} is no UTF-8; is this a Packages index?")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            if record:
                records.append(record)
            record = {}
        elif line[0] not in " \t":
            key, colon, value = line.partition(":")
            if not colon:
                fail(f"{path}:{number}: '{line[:40]}' is no 'Field: value' line; is this a Packages index?")
            record[key] = value.strip()
    if record:
        records.append(record)
    for record in records:
        for key in ("Package", "Version", "Section"):
            if key not in record:
                name = record.get("Package", "?")
                fail(f"{path}: package '{name}' has no field {key}; the index is damaged")
    if not records:
        fail(f"{path}: holds no package; is this a Packages index?")
    return records


def character_order(char):
    if char == "~":
        return -1
    return ord(char) if char.isalpha() else ord(char) + 256


def version_key(version):
    """Sorts as dpkg does: epoch, upstream, revision; '~' before the end, letters before the rest."""
    epoch, colon, rest = version.partition(":")
    if not colon:
        epoch, rest = "0", version
    upstream, dash, revision = rest.rpartition("-")
    if not dash:
        upstream, revision = rest, ""

    def part_key(part):
        # The 0 that closes each run of non-digits is what makes '~' sort before nothing.
        return [
            ([character_order(c) for c in text] + [0], int(digits or 0))
            for text, digits in re.findall(r"(\D*)(\d*)", part)
        ]

    return int(epoch), part_key(upstream), part_key(revision)


def newest_only(records):
    newest = {}
    for record in records:
        held = newest.setdefault(record["Package"], record)
        if version_key(record["Version"]) > version_key(held["Version"]):
            newest[record["Package"]] = record
    return [newest[name] for name in sorted(newest)]


# ---- the graph -----------------------------------------------------------------------------------


class Graph:
    """names, sections, words[i] (a set) and targets[i] (ascending node numbers), one a package."""

    def __init__(self, names, sections, words, targets):
        self.names, self.sections, self.words, self.targets = names, sections, words, targets

    def subset(self, nodes):
        nodes = sorted(nodes)
        number = {old: new for new, old in enumerate(nodes)}
        return Graph(
            [self.names[i] for i in nodes],
            [self.sections[i] for i in nodes],
            [self.words[i] for i in nodes],
            [[number[j] for j in self.targets[i] if j in number] for i in nodes],
        )

    def neighbors(self):
        """Undirected neighbor sets."""
        both = [set() for _ in self.names]
        for i, row in enumerate(self.targets):
            for j in row:
                both[i].add(j)
                both[j].add(i)
        return both


def words_of(description):
    """Runs of a-z and 0-9, lowercase, two characters or more, not digits alone."""
    tokens = re.findall(rb"[a-z0-9]+", description.encode("utf-8").lower())
    return {t.decode() for t in tokens if len(t) >= 2 and not t.isdigit()}


def dependencies(record):
    """First alternatives of Pre-Depends and Depends, without version and architecture."""
    for field in ("Pre-Depends", "Depends"):
        for group in record.get(field, "").split(","):
            name = re.split(r"[\s(:\[<]", group.split("|")[0].strip())[0]
            if name:
                yield name


def build_graph(records):
    """The graph of the newest versions, and how many dependencies gave no edge."""
    records = newest_only(records)
    number = {record["Package"]: i for i, record in enumerate(records)}
    targets, dropped = [], 0
    for i, record in enumerate(records):
        named = list(dependencies(record))
        # A name without a stanza is virtual or absent: no edge, whoever provides it.
        dropped += sum(name not in number for name in named)
        targets.append(sorted({number[name] for name in named if name in number} - {i}))
    return (
        Graph(
            list(number),
            [record["Section"].rpartition("/")[2] for record in records],
            [words_of(record.get("Description", "")) for record in records],
            targets,
        ),
        dropped,
    )


def name_hash(purpose, name):
    return hashlib.sha256(f"debian-bookworm {purpose} {name}".encode()).digest()


def small_nodes(graph, classes=SMALL_CLASSES, quota=SMALL_QUOTA):
    """A connected, label-diverse part.

    Starts at the most connected package of the allowed sections. Again and again the section with the
    fewest nodes so far that has a candidate (a neighbor of a chosen node) takes the candidate with most
    links into the part; ties go by the hash of the name.
    """
    count = collections.Counter(graph.sections)
    allowed = sorted(sorted(count), key=lambda s: -count[s])[:classes]
    neighbors = graph.neighbors()
    rank = [name_hash("small", name) for name in graph.names]
    links = {section: {} for section in allowed}  # candidate -> links into the part
    chosen = {section: 0 for section in allowed}
    part = set()

    def add(node):
        part.add(node)
        chosen[graph.sections[node]] += 1
        links[graph.sections[node]].pop(node, None)
        for other in neighbors[node]:
            if other not in part and graph.sections[other] in links:
                of_section = links[graph.sections[other]]
                of_section[other] = of_section.get(other, 0) + 1

    start = [i for i, section in enumerate(graph.sections) if section in chosen]
    add(max(start, key=lambda i: (len(neighbors[i]), rank[i])))
    while True:
        open_sections = [s for s in sorted(allowed) if links[s] and chosen[s] < quota]
        if not open_sections:
            return part
        section = min(open_sections, key=lambda s: chosen[s])
        add(max(links[section], key=lambda i: (links[section][i], rank[i])))


def split(graph):
    """train, validation, test as sets: 20, 20, 60 percent of each class, by the hash of the name."""
    classes = collections.defaultdict(list)
    for i, section in enumerate(graph.sections):
        classes[section].append(i)
    train, val, test = set(), set(), set()
    for members in classes.values():
        members.sort(key=lambda i: name_hash("split", graph.names[i]))
        fifth = (len(members) + 2) // 5  # n/5 to the nearest
        if fifth == 0:  # a class of one or two still has a training node
            train.update(members[:1])
            test.update(members[1:])
            continue
        train.update(members[:fifth])
        val.update(members[fifth : 2 * fifth])
        test.update(members[2 * fifth :])
    return train, val, test


# ---- writing -------------------------------------------------------------------------------------


def npy(descr, shape, payload):
    """A version 1.0 .npy file. Written by hand, so that no library's version changes a byte."""
    sizes = "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {sizes}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + payload


def integers(descr, values):
    code = {"|u1": "B", "<i2": "h", "<i4": "i", "<i8": "q"}[descr]
    return npy(descr, (len(values),), struct.pack(f"<{len(values)}{code}", *values))


def strings(values):
    width = max(map(len, values), default=1) or 1
    payload = b"".join(v.encode("utf-32-le").ljust(4 * width, b"\0") for v in values)
    return npy(f"<U{width}", (len(values),), payload)


def csr(rows, columns, prefix):
    indptr = [0]
    for row in rows:
        indptr.append(indptr[-1] + len(row))
    return {
        prefix + "_data": integers("|u1", [1] * indptr[-1]),
        prefix + "_indices": integers("<i4", [j for row in rows for j in row]),
        prefix + "_indptr": integers("<i4", indptr),
        prefix + "_shape": integers("<i8", [len(rows), columns]),
    }


def feature_rows(graph, min_word):
    count = collections.Counter(word for words in graph.words for word in words)
    names = sorted(word for word, packages in count.items() if packages >= min_word)
    number = {word: j for j, word in enumerate(names)}
    return names, [sorted(number[w] for w in words if w in number) for words in graph.words]


def members(graph, min_word):
    """The arrays of the npz, in gnn-benchmark's layout: name -> .npy bytes."""
    class_names = sorted(set(graph.sections))
    class_number = {name: c for c, name in enumerate(class_names)}
    word_names, word_rows = feature_rows(graph, min_word)
    nodes = range(len(graph.names))
    arrays = csr(graph.targets, len(graph.names), "adj")
    arrays.update(csr(word_rows, len(word_names), "attr"))
    arrays["labels"] = integers("<i2", [class_number[s] for s in graph.sections])
    for name, chosen in zip(("train_mask", "val_mask", "test_mask"), split(graph)):
        arrays[name] = integers("|u1", [int(i in chosen) for i in nodes])
    arrays["class_names"] = strings(class_names)
    arrays["node_names"] = strings(graph.names)
    arrays["attr_names"] = strings(word_names)
    return arrays


def npz(arrays):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in arrays.items():
            info = zipfile.ZipInfo(name + ".npy", date_time=(1980, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system = 3
            info.external_attr = 0o644 << 16
            archive.writestr(info, data, compresslevel=9)
    return file.getvalue()


def component_sizes(neighbors):
    left, sizes = set(range(len(neighbors))), []
    while left:
        stack = [left.pop()]
        size = 0
        while stack:
            size += 1
            new = neighbors[stack.pop()] & left
            left -= new
            stack.extend(new)
        sizes.append(size)
    return sizes


def facts(graph, min_word, arrays, data):
    neighbors = graph.neighbors()
    sizes = component_sizes(neighbors)
    edges = [(i, j) for i, row in enumerate(graph.targets) for j in row]
    pairs = {(min(edge), max(edge)) for edge in edges}
    same = sum(graph.sections[i] == graph.sections[j] for i, j in pairs)
    needed = collections.Counter(j for _, j in edges)
    top = max(range(len(graph.names)), key=lambda j: (needed[j], -j))
    word_names, word_rows = feature_rows(graph, min_word)
    parts = split(graph)
    # The digest of the arrays does not depend on the zlib that packed them.
    digest = hashlib.sha256(b"".join(name.encode() + array for name, array in arrays.items()))
    return {
        "nodes": len(graph.names),
        "edges": len(edges),
        "undirected_edges": len(pairs),
        "isolated": sum(not other for other in neighbors),
        "components": len(sizes),
        "largest_component": max(sizes),
        "most_needed": graph.names[top],
        "most_needed_dependants": needed[top],
        "most_dependencies": max(map(len, graph.targets)),
        "edge_homophily": round(same / max(len(pairs), 1), 4),
        "features": len(word_names),
        "nonzeros": sum(map(len, word_rows)),
        "nodes_without_features": sum(not row for row in word_rows),
        "classes": len(set(graph.sections)),
        "train": len(parts[0]),
        "val": len(parts[1]),
        "test": len(parts[2]),
        "bytes": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
        "sha256_of_arrays": digest.hexdigest(),
        "class_sizes": dict(sorted(collections.Counter(graph.sections).items())),
    }


def release_facts(path, index):
    """Date and version out of a Release file that lists this very index."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        fail(f"{path}: cannot be read: {error}")
    digest = hashlib.sha256(index).hexdigest()
    if digest not in text:
        fail(f"{path}: lists no file of sha256 {digest}; give the Release file of this very index")
    values = {}
    for key in ("Date", "Version"):
        found = re.search(rf"^{key}: *(.+)$", text, re.MULTILINE)
        if not found:
            fail(f"{path}: has no field {key}; is this a Release file?")
        values["release_" + key.lower()] = found.group(1).strip()
    return values


def make(index_path, out, release):
    data = read_index(index_path)
    records = parse_records(data, index_path)
    graph, dropped = build_graph(records)
    if not any(graph.targets):
        fail(f"{index_path}: no package depends on another of it; is this the index of a whole archive?")
    source = release_facts(release, data) if release else {}
    source.update(
        index_bytes=len(data),
        index_sha256=hashlib.sha256(data).hexdigest(),
        stanzas=len(records),
        older_versions_left_out=len(records) - len(graph.names),
        dependencies_without_package=dropped,
    )
    counts = {"source": source}
    try:
        os.makedirs(out, exist_ok=True)
    except OSError as error:
        fail(f"{out}: cannot be made: {error}")
    for name, part, min_word in (
        ("debian-bookworm", graph, FULL_MIN_WORD),
        ("debian-small", graph.subset(small_nodes(graph)), SMALL_MIN_WORD),
    ):
        arrays = members(part, min_word)
        packed = npz(arrays)
        with open(os.path.join(out, name + ".npz"), "wb") as file:
            file.write(packed)
        counts[name] = facts(part, min_word, arrays, packed)
        print(f"{name}: {counts[name]['nodes']} nodes, {counts[name]['edges']} edges, {len(packed)} bytes")
    with open(os.path.join(out, "counts.json"), "w", encoding="utf-8") as file:
        json.dump(counts, file, indent=2)
        file.write("\n")


# ---- self-test -----------------------------------------------------------------------------------

SAMPLE = b"""\
Package: beta
Version: 2.0~rc1-1
Section: doc
Depends: gone-tool, delta

Package: alpha
Version: 1:1.0-2
Section: libs
Pre-Depends: delta (>= 1.0) | beta
Depends: gamma:any (<< 2), gamma (>= 1), virtual-mta | beta, beta [amd64] | delta
Description: Fast 3D engine, 42 tools
 A second line that is no part of the one-line description: secret

Package: beta
Version: 2.0-1
Section: contrib/doc
Depends: alpha
Description: engine C++ x tools (fast)

Package: gamma
Version: 1
Section: libs
Depends: alpha, zeta | alpha
Provides: virtual-mta
Description: FAST engine

Package: delta
Version: 1
Section: admin
Depends:
Description: 2026 7

Package: epsilon
Version: 1
Section: libs
Depends: virtual-mta, no-such-package
Description: lone engine

Package: zeta
Version: 1
Section: libs
Depends: alpha ( >= 1 )
"""


def unpack(array):
    """(descr, values) of a .npy of this script's own."""
    size = struct.unpack("<H", array[8:10])[0]
    descr = re.search(r"'descr': '(.*?)'", array[10 : 10 + size].decode()).group(1)
    payload = array[10 + size :]
    if descr.startswith("<U"):
        width = 4 * int(descr[2:])
        texts = [payload[i : i + width] for i in range(0, len(payload), width)]
        return descr, [t.decode("utf-32-le").rstrip("\0") for t in texts]
    code = {"|u1": "B", "<i2": "h", "<i4": "i", "<i8": "q"}[descr]
    return descr, [v for (v,) in struct.iter_unpack("<" + code, payload)]


def self_test():
    ordered = ["0~~", "0~", "0", "1.0~rc1-1", "1.0", "1.0-1", "1.0-1a", "1.0-1+b1", "1.0-2", "1.0-10"]
    ordered += ["1.0a", "1.0+x", "1.0.1", "1.2", "1.10", "1:0.5"]
    assert sorted(ordered, key=version_key) == ordered, sorted(ordered, key=version_key)

    graph, dropped = build_graph(parse_records(SAMPLE, "sample"))
    arrays = members(graph, 2)
    expected = {
        # alpha: delta, gamma once, beta; the old beta's dependency on delta is gone
        "adj_data": ("|u1", [1] * 7),
        "adj_indices": ("<i4", [1, 2, 4, 0, 0, 5, 0]),
        "adj_indptr": ("<i4", [0, 3, 4, 4, 4, 6, 7]),
        "adj_shape": ("<i8", [6, 6]),
        # engine, fast, tools; "3d", "lone" occur once, "x" is short, "42" a number
        "attr_data": ("|u1", [1] * 9),
        "attr_indices": ("<i4", [0, 1, 2, 0, 1, 2, 0, 0, 1]),
        "attr_indptr": ("<i4", [0, 3, 6, 6, 7, 9, 9]),
        "attr_shape": ("<i8", [6, 3]),
        "labels": ("<i2", [2, 1, 0, 2, 2, 2]),
        "class_names": ("<U5", ["admin", "doc", "libs"]),
        "node_names": ("<U7", ["alpha", "beta", "delta", "epsilon", "gamma", "zeta"]),
        "attr_names": ("<U6", ["engine", "fast", "tools"]),
    }
    for name, wanted in expected.items():
        assert unpack(arrays[name]) == wanted, (name, unpack(arrays[name]), wanted)
    # Epsilon's two names have no package, alpha's virtual-mta neither, though gamma provides it.
    assert dropped == 3, dropped
    masks = [unpack(arrays[part + "_mask"])[1] for part in ("train", "val", "test")]
    assert all(sum(row) == 1 for row in zip(*masks)), masks
    # libs has four members: one, one and two; admin and doc have one each, which trains.
    assert [sum(mask) for mask in masks] == [3, 1, 2], masks
    assert npz(arrays) == npz(members(graph, 2))
    for array in arrays.values():
        assert (10 + struct.unpack("<H", array[8:10])[0]) % 64 == 0

    # The small graph: connected (no epsilon), sections libs and admin alone (no beta), within the quota.
    part = graph.subset(small_nodes(graph, classes=2, quota=3))
    assert part.names == ["alpha", "delta", "gamma", "zeta"], part.names
    assert part.targets == [[1, 2], [], [0, 3], [0]], part.targets
    assert small_nodes(graph, classes=1, quota=2) < {0, 4, 5}
    assert len(component_sizes(part.neighbors())) == 1, part.names
    print("make.py: self-test passed")


def main():
    parser = argparse.ArgumentParser(description="Builds the dependency graph of Debian's packages.")
    parser.add_argument("index", nargs="?", help="Packages file: plain, .gz, .xz or apt's .lz4")
    parser.add_argument("out", nargs="?", help="folder for the npz files and counts.json")
    parser.add_argument("--release", help="the Release or InRelease file that lists the index")
    parser.add_argument("--self-test", action="store_true", help="check the rules and stop")
    arguments = parser.parse_args()
    if arguments.self_test:
        self_test()
    elif arguments.index and arguments.out:
        make(arguments.index, arguments.out, arguments.release)
    else:
        parser.error("give INDEX and OUT_DIR, or --self-test")


if __name__ == "__main__":
    main()
