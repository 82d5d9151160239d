"""Data, models and recipes of the PyTorch Geometric side, shared by the comparisons."""

import gzip
import os

import numpy as np
import torch
import torch.nn.functional as F
import torch_geometric.nn as gnn

OPS = ("gat", "gcn", "gin", "cheb", "sage", "arma", "graph", "fc", "skip")
LINKS = ("0000", "0001", "0011", "0012", "0013", "0111", "0112", "0122", "0123")

# NAS-Bench-Graph's recipe of each data set, and ours for the Debian graph.
RECIPES = {
    "cora": dict(num_pre=0, num_post=1, hidden=256, dropout=0.7, optimizer="sgd", lr=0.1,
                 weight_decay=5e-4, epochs=400),
    "citeseer": dict(num_pre=0, num_post=1, hidden=256, dropout=0.7, optimizer="sgd", lr=0.2,
                     weight_decay=5e-4, epochs=400),
    "pubmed": dict(num_pre=0, num_post=0, hidden=128, dropout=0.3, optimizer="sgd", lr=0.2,
                   weight_decay=5e-4, epochs=500),
    "debian-bookworm": dict(num_pre=0, num_post=1, hidden=64, dropout=0.3, optimizer="adam",
                            lr=0.005, weight_decay=5e-4, epochs=400),
}


# ---------------------------------------------------------------------------------------- data


class Graph:
    """Dense features, an undirected coalesced edge_index without self-loops, and masks."""

    def __init__(self, x, edge_index, y, train, val, test):
        self.x, self.edge_index, self.y = x, edge_index, y
        self.train, self.val, self.test = train, val, test
        self.num_classes = int(y.max()) + 1
        self.adj_t = None

    def sparse_adjacency(self):
        """The adjacency as a torch.sparse CSR tensor (rows are targets), made once."""
        if self.adj_t is None:
            n = self.x.size(0)
            src, dst = self.edge_index
            order = torch.argsort(dst * n + src)
            counts = torch.bincount(dst, minlength=n)
            row_ptr = torch.zeros(n + 1, dtype=torch.long)
            row_ptr[1:] = torch.cumsum(counts, 0)
            self.adj_t = torch.sparse_csr_tensor(
                row_ptr, src[order], torch.ones(src.numel()), size=(n, n))
        return self.adj_t

    def row_normalized(self):
        total = self.x.sum(1, keepdim=True)
        return self.x / torch.where(total == 0, torch.ones_like(total), total)


def _load_npy(stem):
    if os.path.exists(stem):
        return np.load(stem)
    if os.path.exists(stem + ".gz"):
        with gzip.open(stem + ".gz", "rb") as f:
            return np.lib.format.read_array(f)
    return None


def undirected(src, dst, n):
    """Both directions, each pair once, no self-loops: what PyG's loaders do with these sets."""
    keep = src != dst
    src, dst = src[keep].astype(np.int64), dst[keep].astype(np.int64)
    keys = np.unique(np.concatenate([src * n + dst, dst * n + src]))
    return torch.from_numpy(np.stack([keys // n, keys % n]))


def _dense(indptr, indices, values, rows, cols):
    x = np.zeros((rows, cols), dtype=np.float32)
    row = np.repeat(np.arange(rows), np.diff(indptr))
    x[row, indices] = 1.0 if values is None else values
    return torch.from_numpy(x)


def load_conversion(folder):
    """A folder of edges.tsv, labels.tsv, splits.tsv and features_*.npy with a split `public`."""
    labels = np.loadtxt(os.path.join(folder, "labels.tsv"), dtype=np.int64, comments="#")[:, 1]
    edges = np.loadtxt(os.path.join(folder, "edges.tsv"), dtype=np.int64, comments="#")
    n = len(labels)
    with open(os.path.join(folder, "splits.tsv"), encoding="utf-8") as f:
        column = f.readline().lstrip("#").split().index("public")
    part = np.loadtxt(os.path.join(folder, "splits.tsv"), dtype=np.int64, comments="#")[:, column]
    with open(os.path.join(folder, "meta.json"), encoding="utf-8") as f:
        import json
        meta = json.load(f)
    indptr = _load_npy(os.path.join(folder, "features_indptr.npy"))
    indices = _load_npy(os.path.join(folder, "features_indices.npy"))
    values = _load_npy(os.path.join(folder, "features_values.npy"))
    cols = meta.get("features", meta.get("num_features", int(indices.max()) + 1))
    if not isinstance(cols, int):
        cols = int(indices.max()) + 1
    x = _dense(indptr, indices, values, n, cols)
    mask = [torch.from_numpy(np.flatnonzero(part == k)) for k in (1, 2, 3)]
    return Graph(x, undirected(edges[:, 0], edges[:, 1], n), torch.from_numpy(labels), *mask)


def load_npz(path):
    """An .npz with gnn-benchmark's keys (adj_*, attr_*, labels) and *_mask members."""
    z = np.load(path, allow_pickle=False)
    n = int(z["adj_shape"][0])
    row = np.repeat(np.arange(n), np.diff(z["adj_indptr"]))
    if "attr_matrix" in z.files:
        x = torch.from_numpy(z["attr_matrix"].astype(np.float32))
    else:
        rows, cols = (int(v) for v in z["attr_shape"])
        values = z["attr_data"] if "attr_data" in z.files else None
        x = _dense(z["attr_indptr"], z["attr_indices"], values, rows, cols)
    mask = []
    for name in ("train", "val", "test"):
        key = next((k for k in (name + "_mask", "idx_" + name, name + "_idx") if k in z.files), None)
        if key is None:
            raise SystemExit(f"{path}: no member {name}_mask or idx_{name}")
        mask.append(torch.from_numpy(np.flatnonzero(z[key]) if z[key].dtype == bool or key.endswith("_mask")
                                     else z[key].astype(np.int64)))
    labels = torch.from_numpy(z["labels"].astype(np.int64))
    return Graph(x, undirected(row, z["adj_indices"], n), labels, *mask)


def load(name, data_folder, debian_npz):
    if name == "debian-bookworm":
        return load_npz(debian_npz)
    return load_conversion(os.path.join(data_folder, name))


# -------------------------------------------------------------------------------------- models


def make_op(name, a, b):
    """NAS-Bench-Graph's operator of input width a and output width b; None for skip."""
    if name == "gat":
        return gnn.GATConv(a, b // 4, heads=4)
    if name == "gcn":
        return gnn.GCNConv(a, b, cached=True)
    if name == "gin":
        return gnn.GINConv(torch.nn.Linear(a, b))
    if name == "cheb":
        return gnn.ChebConv(a, b, K=2)
    if name == "sage":
        return gnn.SAGEConv(a, b)
    if name == "arma":
        return gnn.ARMAConv(a, b)
    if name == "graph":
        return gnn.GraphConv(a, b)
    if name == "fc":
        return torch.nn.Linear(a, b)
    if name == "skip":
        return None
    raise ValueError(f"unknown operator {name!r}")


# Those whose PyG layer takes a torch.sparse adjacency and then multiplies instead of gathering
# (GAT and Chebyshev turn it back into edges; ARMA fails on it).
SPARSE_OPS = ("gcn", "gin", "sage", "graph")


class NasBenchGraphNet(torch.nn.Module):
    """The network of NAS-Bench-Graph: one cell of four operators between dense layers."""

    def __init__(self, link, ops, in_features, num_classes, num_pre, num_post, hidden, dropout):
        super().__init__()
        self.link, self.ops, self.dropout = tuple(link), tuple(ops), dropout
        linear = torch.nn.Linear
        self.pre = torch.nn.ModuleList(
            [linear(in_features if k == 0 else hidden, hidden) for k in range(num_pre)])
        self.bn = torch.nn.ModuleList([torch.nn.BatchNorm1d(hidden) for _ in range(4)])
        width = [hidden if num_pre else in_features]
        raw = [num_pre == 0]
        self.cell = torch.nn.ModuleList()
        for i in range(4):
            op = make_op(ops[i], width[link[i]], hidden)
            self.cell.append(torch.nn.Identity() if op is None else op)
            width.append(width[link[i]] if op is None else hidden)
            raw.append(op is None and raw[link[i]])
        self.raw = tuple(raw)
        self.ends = tuple(k for k in range(1, 5) if k not in link)
        joined = sum(width[k] for k in self.ends)
        self.out = linear(joined, hidden if num_post else num_classes)
        self.post = torch.nn.ModuleList(
            [linear(hidden, num_classes if k == num_post - 1 else hidden) for k in range(num_post)])

    def forward(self, x, edge_index, adj_t=None):
        x = F.dropout(x, self.dropout, self.training)
        for k, layer in enumerate(self.pre):
            x = layer(x)
            if k == len(self.pre) - 2:
                x = F.elu(x)
        res = [x]
        for i in range(4):
            inp = res[self.link[i]]
            if not self.raw[self.link[i]]:
                inp = F.dropout(F.relu(self.bn[i](inp)), self.dropout, self.training)
            name = self.ops[i]
            if name in ("skip", "fc"):
                res.append(self.cell[i](inp))
            elif adj_t is not None and name in SPARSE_OPS:
                res.append(self.cell[i](inp, adj_t))
            else:
                res.append(self.cell[i](inp, edge_index))
        y = F.relu(torch.cat([res[k] for k in self.ends], dim=-1))
        y = self.out(y)
        for k, layer in enumerate(self.post):
            y = layer(y)
            if k == len(self.post) - 2:
                y = F.elu(y)
        return y


class KipfGcn(torch.nn.Module):
    """Two GCN layers, 16 hidden, dropout 0.5 before each."""

    def __init__(self, in_features, num_classes):
        super().__init__()
        self.first = gnn.GCNConv(in_features, 16, cached=True)
        self.second = gnn.GCNConv(16, num_classes, cached=True)

    def forward(self, x, edge_index, adj_t=None):
        where = edge_index if adj_t is None else adj_t
        x = F.relu(self.first(F.dropout(x, 0.5, self.training), where))
        return self.second(F.dropout(x, 0.5, self.training), where)


class ReferenceGat(torch.nn.Module):
    """8 heads of 8, then one head (PubMed: 8 averaged); dropout 0.6 on inputs and attention."""

    def __init__(self, in_features, num_classes, out_heads):
        super().__init__()
        self.first = gnn.GATConv(in_features, 8, heads=8, dropout=0.6)
        self.second = gnn.GATConv(64, num_classes, heads=out_heads, concat=False, dropout=0.6)

    def forward(self, x, edge_index, adj_t=None):
        x = F.elu(self.first(F.dropout(x, 0.6, self.training), edge_index))
        return self.second(F.dropout(x, 0.6, self.training), edge_index)


# ------------------------------------------------------------------------------------ training


def parse_arch(text):
    """`0,0,1,2:gat,gcn,gin,cheb` -> ((0, 0, 1, 2), ("gat", "gcn", "gin", "cheb"))."""
    link, _, ops = text.partition(":")
    link = tuple(int(v) for v in link.split(","))
    ops = tuple(ops.split(","))
    if len(link) != 4 or len(ops) != 4 or any(o not in OPS for o in ops):
        raise ValueError(f"not an architecture: {text!r} (expected like 0,0,1,2:gat,gcn,gin,cheb)")
    return link, ops


def count_parameters(model):
    return sum(p.numel() for p in model.parameters())


def build(arch, data_name, graph):
    """Model, its input features and its optimiser, with the recipe of the data set."""
    f, c = graph.x.size(1), graph.num_classes
    if arch == "gcn":
        model = KipfGcn(f, c)
        optimizer = torch.optim.Adam(
            [dict(params=model.first.parameters(), weight_decay=5e-4),
             dict(params=model.second.parameters(), weight_decay=0.0)], lr=0.01)
        return model, graph.row_normalized(), optimizer
    if arch == "gat":
        pubmed = data_name == "pubmed"
        model = ReferenceGat(f, c, 8 if pubmed else 1)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01 if pubmed else 0.005,
                                     weight_decay=1e-3 if pubmed else 5e-4)
        return model, graph.row_normalized(), optimizer
    recipe = RECIPES[data_name]
    link, ops = parse_arch(arch)
    model = NasBenchGraphNet(link, ops, f, c, recipe["num_pre"], recipe["num_post"],
                             recipe["hidden"], recipe["dropout"])
    kind = torch.optim.SGD if recipe["optimizer"] == "sgd" else torch.optim.Adam
    optimizer = kind(model.parameters(), lr=recipe["lr"], weight_decay=recipe["weight_decay"])
    return model, graph.x, optimizer


class Training:
    """One model on one graph; `epoch()` is a full-batch step and one evaluation pass."""

    def __init__(self, arch, data_name, graph, mode="eager", seed=0):
        torch.manual_seed(seed)
        self.graph = graph
        self.model, self.x, self.optimizer = build(arch, data_name, graph)
        self.adj_t = graph.sparse_adjacency() if mode == "sparse" else None
        self.call = torch.compile(self.model) if mode == "compiled" else self.model
        self.val_y, self.test_y = graph.y[graph.val], graph.y[graph.test]
        self.train_y = graph.y[graph.train]

    def forward(self):
        if self.adj_t is not None:
            return self.call(self.x, self.graph.edge_index, self.adj_t)
        return self.call(self.x, self.graph.edge_index)

    def epoch(self):
        """Returns training loss, validation accuracy and test accuracy."""
        g = self.graph
        self.model.train()
        self.optimizer.zero_grad(set_to_none=True)
        loss = F.cross_entropy(self.forward()[g.train], self.train_y)
        loss.backward()
        self.optimizer.step()
        self.model.eval()
        with torch.no_grad():
            guess = self.forward().argmax(1)
            val = (guess[g.val] == self.val_y).float().mean()
            test = (guess[g.test] == self.test_y).float().mean()
        return float(loss), float(val), float(test)


def train(arch, data_name, graph, epochs, seed, mode="eager"):
    """Test accuracy at the first epoch of best validation accuracy: (val, test)."""
    training = Training(arch, data_name, graph, mode, seed)
    best_val, best_test = -1.0, 0.0
    for _ in range(epochs):
        _, val, test = training.epoch()
        if val > best_val:
            best_val, best_test = val, test
    return best_val, best_test
