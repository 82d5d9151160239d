"""Makes the reference values of the tests once, with PyTorch and PyTorch Geometric.

Usage: python tests/reference/make_reference.py [--out tests/reference/data]

Every input (features, weights, upstream gradients) is a multiple of 1/64 in [-1, 1], so it is the
same number in float and in double: a double result is an oracle for both.
"""

import argparse
import os
import random
import sys
import warnings

warnings.filterwarnings("ignore", category=FutureWarning)

import numpy as np
import torch
import torch.nn.functional as F
import torch_geometric
import torch_geometric.nn as gnn

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "bench", "peers"))
from pyg_model import NasBenchGraphNet  # noqa: E402

DTYPES = {"f64": torch.float64, "f32": torch.float32}


# -------------------------------------------------------------------------------------- graphs


def graphs():
    """Small graphs, each with one thing that code gets wrong: name -> (nodes, [(src, dst)])."""
    hub = [(i, 0) for i in range(1, 9)] + [(0, i) for i in range(1, 9)]
    rng = random.Random(5)
    pairs = [(i, j) for i in range(10) for j in range(10) if i != j]
    return {
        "isolated": (6, [(0, 1), (1, 2), (3, 1), (2, 0), (0, 3)]),  # directed; 4 and 5 alone
        "hub": (9, hub),
        "parallel": (5, [(0, 1), (0, 1), (1, 0), (2, 1), (2, 3), (2, 3), (2, 3), (3, 2)]),
        "loops": (5, [(0, 0), (0, 1), (1, 0), (2, 2), (2, 1), (1, 2), (3, 3)]),
        "no-edges": (4, []),
        "one-node": (1, []),
        "directed": (10, sorted(rng.sample(pairs, 25))),
    }


def edge_index(edges):
    """PyG's form; sorted by target, then source, the order of a CSR by target."""
    edges = sorted(edges, key=lambda e: (e[1], e[0]))
    return torch.tensor(edges, dtype=torch.long).reshape(-1, 2).t().contiguous()


class Grid:
    """Seeded values that are exact in single precision."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def draw(self, *shape):
        return torch.from_numpy(self.rng.integers(-64, 65, size=shape) / 64.0)

    def fill(self, module):
        """Replaces every parameter; small scale, so that deep nets stay in range."""
        with torch.no_grad():
            for p in module.parameters():
                p.copy_(self.draw(*p.shape).to(p.dtype))


class Archive:
    """Arrays by key `<case>/<name>`, and one text row a case."""

    def __init__(self, header):
        self.arrays, self.rows = {}, [header]

    def put(self, case, name, value):
        if isinstance(value, torch.Tensor):
            value = value.detach().cpu().numpy()
        value = np.array(value, order="C", copy=True)  # never a view of a live parameter
        if value.dtype == np.int64:
            value = value.astype(np.int32)
        self.arrays[f"{case}/{name}"] = value

    def put_with_grad(self, case, name, tensor):
        """`tensor` is (value, gradient); a gradient that PyTorch left unset is zero."""
        value, grad = tensor
        self.put(case, name, value)
        self.put(case, name + ".grad", torch.zeros_like(value) if grad is None else grad)

    def save(self, folder, stem):
        os.makedirs(folder, exist_ok=True)
        np.savez_compressed(os.path.join(folder, stem + ".npz"), **self.arrays)
        with open(os.path.join(folder, stem + ".tsv"), "w", encoding="utf-8") as f:
            f.write("\n".join("\t".join(str(v) for v in row) for row in self.rows) + "\n")


# ----------------------------------------------------------------------------------- operators


def pair(p, how=lambda t: t):
    """(value, gradient) of a parameter in our layout; None stays None."""
    return how(p.detach()), None if p.grad is None else how(p.grad)


def transposed(p):
    return pair(p, lambda t: t.t())


def roles(op, layer):
    """The layer's parameters by our names: W is (in, out) and acts as x @ W."""
    if op == "gat":
        flat = lambda t: t.reshape(t.shape[-2], t.shape[-1])
        return {"W": transposed(layer.lin.weight), "att_src": pair(layer.att_src, flat),
                "att_dst": pair(layer.att_dst, flat), "bias": pair(layer.bias)}
    if op == "gcn":
        return {"W": transposed(layer.lin.weight), "bias": pair(layer.bias)}
    if op == "gin":
        return {"W": transposed(layer.nn.weight), "bias": pair(layer.nn.bias)}
    if op == "cheb":
        return {"W": transposed(layer.lins[1].weight), "W_root": transposed(layer.lins[0].weight),
                "bias": pair(layer.bias)}
    if op == "sage":
        return {"W": transposed(layer.lin_l.weight), "W_root": transposed(layer.lin_r.weight),
                "bias": pair(layer.lin_l.bias)}
    if op == "arma":  # its `weight` (out, out) belongs to further layers and is never used
        return {"W": pair(layer.init_weight, lambda t: t[0]),
                "W_root": pair(layer.root_weight, lambda t: t[0, 0]),
                "bias": pair(layer.bias, lambda t: t.reshape(-1))}
    if op == "graph":
        return {"W": transposed(layer.lin_rel.weight), "W_root": transposed(layer.lin_root.weight),
                "bias": pair(layer.lin_rel.bias)}
    if op == "fc":
        return {"W": transposed(layer.weight), "bias": pair(layer.bias)}
    return {}


def make_layer(op, a, out, heads, concat):
    if op == "gat":
        return gnn.GATConv(a, out, heads=heads, concat=concat)
    if op == "gcn":
        return gnn.GCNConv(a, out)
    if op == "gin":
        return gnn.GINConv(torch.nn.Linear(a, out))
    if op == "cheb":
        return gnn.ChebConv(a, out, K=2)
    if op == "sage":
        return gnn.SAGEConv(a, out)
    if op == "arma":
        return gnn.ARMAConv(a, out)
    if op == "graph":
        return gnn.GraphConv(a, out)
    return torch.nn.Linear(a, out)


def operators(folder):
    archive = Archive(["case", "op", "graph", "nodes", "symmetric", "heads", "concat", "in", "out",
                       "dtype"])
    kinds = [("gat", 4, True, 2), ("gat", 8, True, 8), ("gat", 1, True, 8), ("gat", 2, False, 8)]
    kinds += [(op, 1, True, 8) for op in ("gcn", "gin", "cheb", "sage", "arma", "graph", "fc")]
    a = 5
    for number, (op, heads, concat, out) in enumerate(kinds):
        for place, (graph, (n, edges)) in enumerate(graphs().items()):
            if op == "fc" and graph != "directed":
                continue
            for dtype, torch_type in DTYPES.items():
                if dtype == "f32" and graph != "directed":
                    continue
                grid = Grid(1000 + 100 * number + place)
                layer = make_layer(op, a, out, heads, concat).to(torch_type)
                grid.fill(layer)
                x = grid.draw(n, a).to(torch_type).requires_grad_()
                where = edge_index(edges)
                y = layer(x) if op == "fc" else layer(x, where)
                g = grid.draw(*y.shape).to(torch_type)
                (y * g).sum().backward()
                name = op if op != "gat" else f"gat{heads}{'' if concat else 'mean'}"
                case = f"{name}.{graph}.{dtype}"
                symmetric = int(sorted(edges) == sorted((j, i) for i, j in edges))
                archive.rows.append([case, op, graph, n, symmetric, heads, int(concat), a, out,
                                     dtype])
                archive.put(case, "src", where[0])
                archive.put(case, "dst", where[1])
                archive.put_with_grad(case, "x", pair(x))
                for role, value in roles(op, layer).items():
                    archive.put_with_grad(case, role, value)
                archive.put(case, "g", g)
                archive.put(case, "y", y)
    archive.save(folder, "operators")


# ------------------------------------------------------------------------------ GraphNAS layers

ATTENTIONS = ("gat", "gcn", "cos", "const", "gat_sym", "linear", "generalized_linear")
AGGREGATORS = ("sum", "mean", "max", "mlp")


def graphnas_layer(x, p, mask, attention, aggregator, heads, concat):
    """Written from the formulas, dense: mask[i, j] says whether j -> i, the diagonal set."""
    n = x.shape[0]
    h = (x @ p["W"]).reshape(n, heads, -1)
    h_i, h_j = h[:, None], h[None, :]  # (n, 1, H, D), (1, n, H, D)
    degree = mask.sum(1).to(x.dtype)
    if attention == "const":
        alpha = torch.ones(n, n, heads, dtype=x.dtype)
    elif attention == "gcn":
        alpha = (degree[:, None] * degree[None, :]).rsqrt()[:, :, None].expand(n, n, heads)
    else:
        left, right = p["left"], p["right"]
        if attention == "gat":
            score = F.leaky_relu((left * h_i).sum(-1) + (right * h_j).sum(-1), 0.2)
        elif attention == "gat_sym":
            score = (F.leaky_relu((left * h_i).sum(-1) + (right * h_j).sum(-1), 0.2) +
                     F.leaky_relu((left * h_j).sum(-1) + (right * h_i).sum(-1), 0.2))
        elif attention == "linear":
            score = torch.tanh((left * h_j).sum(-1) + (right * h_j).sum(-1)).expand(n, n, heads)
        elif attention == "cos":
            score = ((left * h_i) * (right * h_j)).sum(-1)
        else:
            score = torch.tanh(left * h_i + right * h_j) @ p["gvec"]
        score = score.masked_fill(~mask[:, :, None], float("-inf"))
        alpha = torch.softmax(score, dim=1)  # over the in-edges of the target
    message = alpha[..., None] * h_j  # (target, source, H, D)
    if aggregator != "sum":
        hidden = message @ p["mlp1.W"] + p["mlp1.bias"]
        message = hidden @ p["mlp2.W"] + p["mlp2.bias"]
    edge = mask[:, :, None, None]
    if aggregator == "max":
        out = message.masked_fill(~edge, float("-inf")).amax(1)
    else:
        out = message.masked_fill(~edge, 0.0).sum(1)
        if aggregator == "mean":
            out = out / degree[:, None, None]
    out = out.reshape(n, -1) if concat else out.mean(1)
    return out + p["bias"]


def graphnas(folder):
    header = ["case", "attention", "aggregator", "nodes", "heads", "concat", "in", "out", "dtype"]
    archive = Archive(header)
    a, d, n = 4, 3, 6
    # directed, a self-loop (removed, then one is added for every node), node 5 alone
    edges = [(0, 1), (2, 1), (3, 1), (4, 1), (1, 0), (2, 0), (3, 2), (1, 3), (0, 3), (2, 2), (1, 4)]
    where = edge_index(edges)
    mask = torch.eye(n, dtype=torch.bool)
    mask[where[1], where[0]] = True
    shapes = [(1, True), (2, True), (3, True), (2, False)]
    for number, (attention, aggregator) in enumerate(
            (t, r) for t in ATTENTIONS for r in AGGREGATORS):
        for heads, concat in shapes:
            if not concat and attention != "gat":
                continue
            for dtype, torch_type in DTYPES.items():
                # what the rest would add is size, not coverage
                if heads == 3 and attention != "gat" and aggregator in ("mean", "mlp"):
                    continue
                if dtype == "f32" and (attention not in ("gat", "cos") or heads != 2 or not concat):
                    continue
                grid = Grid(9000 + 10 * number + heads)
                leaf = lambda *s, scale=1.0: (grid.draw(*s) * scale).to(torch_type).requires_grad_()
                x = leaf(n, a)
                p = {"W": leaf(a, heads * d)}
                if attention not in ("const", "gcn"):
                    p["left"], p["right"] = leaf(heads, d), leaf(heads, d)
                if attention == "generalized_linear":
                    p["gvec"] = leaf(d)
                if aggregator != "sum":
                    p["mlp1.W"], p["mlp1.bias"] = leaf(d, 128), leaf(128)
                    p["mlp2.W"] = leaf(128, d, scale=0.125)
                    p["mlp2.bias"] = leaf(d)
                p["bias"] = leaf(heads * d if concat else d)
                y = graphnas_layer(x, p, mask, attention, aggregator, heads, concat)
                g = grid.draw(*y.shape).to(torch_type)
                (y * g).sum().backward()
                tail = "" if concat else "mean"
                case = f"{attention}.{aggregator}.{heads}{tail}.{dtype}"
                archive.rows.append([case, attention, aggregator, n, heads, int(concat), a, d, dtype])
                archive.put(case, "src", where[0])
                archive.put(case, "dst", where[1])
                archive.put_with_grad(case, "x", pair(x))
                for role, tensor in p.items():
                    archive.put_with_grad(case, role, pair(tensor))
                archive.put(case, "g", g)
                archive.put(case, "y", y)
    archive.save(folder, "graphnas")


# ------------------------------------------------------------------------- whole architectures

# link, ops, (num_pre, num_post); every operator, every canonical link, skips in each position.
ARCHITECTURES = (
    ("0000", "gat,gcn,gin,cheb", (0, 1)), ("0000", "sage,arma,graph,fc", (0, 0)),
    ("0001", "gat,gat,gcn,skip", (0, 1)), ("0011", "gcn,gin,fc,sage", (0, 0)),
    ("0012", "cheb,arma,gat,graph", (1, 0)), ("0013", "graph,sage,skip,gcn", (0, 1)),
    ("0111", "gcn,gat,sage,skip", (1, 1)), ("0112", "skip,gcn,fc,gin", (0, 1)),
    ("0122", "gat,cheb,arma,fc", (0, 0)), ("0123", "gcn,gcn,gcn,gcn", (0, 1)),
    ("0123", "skip,skip,gat,gcn", (0, 0)), ("0123", "arma,skip,fc,gat", (0, 1)),
    ("0000", "skip,gcn,gat,fc", (0, 1)), ("0000", "skip,skip,sage,gin", (1, 1)),
    ("0012", "skip,skip,gcn,gat", (0, 0)), ("0011", "skip,fc,cheb,skip", (0, 1)),
    ("0001", "graph,graph,graph,arma", (2, 2)), ("0122", "skip,sage,skip,gat", (0, 2)),
    ("0111", "fc,fc,fc,fc", (1, 1)), ("0013", "gin,gat,cheb,skip", (2, 1)),
)


def architectures(folder):
    archive = Archive(["case", "link", "ops", "num_pre", "num_post", "hidden", "features",
                       "classes", "nodes", "dtype"])
    n, f, c, hidden, lr, decay = 30, 12, 3, 8, 0.1, 5e-4
    rng = random.Random(11)
    some = [(i, j) for i in range(n - 2) for j in range(i)]  # nodes 28 and 29 stay alone
    chosen = rng.sample(some, 48)
    where = edge_index([e for i, j in chosen for e in ((i, j), (j, i))])
    for number, (link, ops, (num_pre, num_post)) in enumerate(ARCHITECTURES):
        for dtype, torch_type in DTYPES.items():
            if dtype == "f32" and number % 5:
                continue
            grid = Grid(20000 + number)
            net = NasBenchGraphNet([int(v) for v in link], ops.split(","), f, c, num_pre, num_post,
                                   hidden, 0.0).to(torch_type)
            with torch.no_grad():
                for key, p in net.named_parameters():
                    # batch-norm scales near one, everything else small: no unit saturates
                    value = 1.0 + 0.25 * grid.draw(*p.shape) if key.startswith("bn.") and \
                        key.endswith("weight") else 0.5 * grid.draw(*p.shape)
                    p.copy_(value.to(torch_type))
            x = grid.draw(n, f).to(torch_type)
            labels = torch.from_numpy(grid.rng.integers(0, c, size=n))
            train = torch.from_numpy(np.sort(grid.rng.permutation(n)[:12]))
            optimizer = torch.optim.SGD(net.parameters(), lr=lr, weight_decay=decay)
            net.train()
            logits = net(x, where)
            loss = F.cross_entropy(logits[train], labels[train])
            loss.backward()
            case = f"{number}.{dtype}"
            archive.rows.append([case, link, ops, num_pre, num_post, hidden, f, c, n, dtype])
            put = archive.put
            put(case, "src", where[0])
            put(case, "dst", where[1])
            put(case, "x", x)
            put(case, "labels", labels)
            put(case, "train", train)
            put(case, "logits", logits)
            put(case, "loss", loss.reshape(1))
            for k, layer in enumerate(net.pre):
                archive.put_with_grad(case, f"pre{k}.W", transposed(layer.weight))
                archive.put_with_grad(case, f"pre{k}.bias", pair(layer.bias))
            for k, (op, layer) in enumerate(zip(net.ops, net.cell)):
                for role, value in roles(op, layer).items():
                    archive.put_with_grad(case, f"op{k}.{role}", value)
            for k, layer in enumerate(net.bn):
                if net.raw[net.link[k]]:
                    continue  # never applied
                archive.put_with_grad(case, f"bn{k}.scale", pair(layer.weight))
                archive.put_with_grad(case, f"bn{k}.shift", pair(layer.bias))
                put(case, f"bn{k}.running_mean", layer.running_mean)
                put(case, f"bn{k}.running_var", layer.running_var)
            archive.put_with_grad(case, "out.W", transposed(net.out.weight))
            archive.put_with_grad(case, "out.bias", pair(net.out.bias))
            for k, layer in enumerate(net.post):
                archive.put_with_grad(case, f"post{k}.W", transposed(layer.weight))
                archive.put_with_grad(case, f"post{k}.bias", pair(layer.bias))
            optimizer.step()
            net.eval()
            put(case, "logits_eval", net(x, where))
    archive.save(folder, "architectures")


# ---------------------------------------------------------------------------------- optimisers


def optimizers(folder):
    archive = Archive(["case", "optimizer", "lr", "weight_decay", "momentum"])
    kinds = [("sgd", 0.1, 0.0, 0.0), ("sgd", 0.1, 5e-4, 0.0), ("sgd", 0.05, 0.01, 0.9),
             ("adam", 0.01, 0.0, 0.0), ("adam", 0.005, 5e-4, 0.0), ("adam", 0.1, 0.1, 0.0)]
    for number, (name, lr, decay, momentum) in enumerate(kinds):
        grid = Grid(30000 + number)
        p = grid.draw(7).requires_grad_()
        case = f"{name}{number}"
        archive.rows.append([case, name, lr, decay, momentum])
        archive.put(case, "p0", p.detach().clone())
        grads = grid.draw(5, 7)
        grads[:, 0] = 0.0  # a parameter that only decays
        if name == "sgd":
            optimizer = torch.optim.SGD([p], lr=lr, weight_decay=decay, momentum=momentum)
        else:
            optimizer = torch.optim.Adam([p], lr=lr, weight_decay=decay)
        path = []
        for g in grads:
            p.grad = g.clone()
            optimizer.step()
            path.append(p.detach().clone())
        archive.put(case, "grads", grads)
        archive.put(case, "p", torch.stack(path))
    # a tiny two-layer net fitted to a target: mean of squares, tanh, five steps
    for name, lr, decay in (("sgd", 0.1, 5e-4), ("adam", 0.01, 5e-4)):
        grid = Grid(31000)
        x, target = grid.draw(6, 3), grid.draw(6, 2)
        w1 = grid.draw(3, 4).requires_grad_()
        w2 = grid.draw(4, 2).requires_grad_()
        case = f"mlp.{name}"
        archive.rows.append([case, name, lr, decay, 0.0])
        archive.put(case, "x", x)
        archive.put(case, "target", target)
        archive.put(case, "W1", w1.detach().clone())
        archive.put(case, "W2", w2.detach().clone())
        kind = torch.optim.SGD if name == "sgd" else torch.optim.Adam
        optimizer = kind([w1, w2], lr=lr, weight_decay=decay)
        losses = []
        for _ in range(5):
            optimizer.zero_grad()
            loss = ((torch.tanh(x @ w1) @ w2 - target) ** 2).mean()
            loss.backward()
            losses.append(float(loss.detach()))
            optimizer.step()
        archive.put(case, "losses", np.array(losses))
        archive.put(case, "W1.after", w1)
        archive.put(case, "W2.after", w2)
    archive.save(folder, "optimizers")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default=os.path.join(HERE, "data"))
    args = parser.parse_args()
    torch.set_num_threads(1)
    operators(args.out)
    graphnas(args.out)
    architectures(args.out)
    optimizers(args.out)
    total = sum(os.path.getsize(os.path.join(args.out, f)) for f in os.listdir(args.out))
    print(f"torch {torch.__version__}, torch_geometric {torch_geometric.__version__}, "
          f"numpy {np.__version__}: {total} bytes in {args.out}")


if __name__ == "__main__":
    main()
