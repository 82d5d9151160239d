#!/usr/bin/env python3
"""Test accuracies of plain models on the two graphs, as README.md states them.

    baselines.py NPZ [NPZ ...]

Needs numpy, scipy, scikit-learn and torch. C and the epoch are chosen by validation accuracy alone.
The graph is undirected, without weights.
"""

# SPDX-License-Identifier: Apache-2.0

import sys
import warnings

import numpy as np
import scipy.sparse as sp
import torch
from sklearn.linear_model import LogisticRegression

torch.set_num_threads(1)


class Graph:
    def __init__(self, path):
        z = np.load(path)
        csr = lambda p: sp.csr_matrix(
            (z[p + "_data"].astype(np.float32), z[p + "_indices"], z[p + "_indptr"]), tuple(z[p + "_shape"])
        )
        adjacency = csr("adj")
        self.adjacency = ((adjacency + adjacency.T) > 0).astype(np.float32)
        self.x, self.y = csr("attr"), z["labels"].astype(np.int64)
        self.parts = [np.flatnonzero(z[part + "_mask"]) for part in ("train", "val", "test")]
        self.classes = len(z["class_names"])

    def normalized(self):
        """D^-1/2 (A + I) D^-1/2"""
        a = self.adjacency + sp.eye(len(self.y), dtype=np.float32, format="csr")
        d = sp.diags(1 / np.sqrt(np.asarray(a.sum(1)).ravel()))
        return (d @ a @ d).tocsr().astype(np.float32)

    def mean(self):
        """D^-1 A, a zero row for an isolated node"""
        d = np.asarray(self.adjacency.sum(1)).ravel()
        return (sp.diags(1 / np.maximum(d, 1)) @ self.adjacency).tocsr().astype(np.float32)


def logistic_regression(graph, x):
    train, val, test = graph.parts
    best, result = -1.0, None
    for c in (0.3, 1, 3, 10, 30):
        model = LogisticRegression(C=c, max_iter=300, tol=1e-3).fit(x[train], graph.y[train])
        score = model.score(x[val], graph.y[val])
        if score > best:
            best, result = score, (model.score(x[test], graph.y[test]), c)
    return result


def tensor(matrix):
    m = matrix.tocsr()
    return torch.sparse_csr_tensor(
        torch.from_numpy(m.indptr.astype(np.int64)),
        torch.from_numpy(m.indices.astype(np.int64)),
        torch.from_numpy(m.data.astype(np.float32)),
        m.shape,
    )


class Product(torch.autograd.Function):
    """matrix @ dense with the transpose at hand: torch's own backward would build it every time."""

    @staticmethod
    def forward(ctx, pair, dense):
        ctx.pair = pair
        return pair[0] @ dense

    @staticmethod
    def backward(ctx, grad):
        return None, ctx.pair[1] @ grad


def both_ways(matrix):
    return tensor(matrix), tensor(matrix.T)


class Network(torch.nn.Module):
    """Two layers. 'mlp': X W. 'gcn': A X W. 'sage': X W0 + mean(X) W1."""

    def __init__(self, kind, hops, features, classes, hidden, dropout):
        super().__init__()
        self.kind, self.hops, self.dropout = kind, hops, dropout
        terms = 2 if kind == "sage" else 1
        shapes = [(features, hidden), (hidden, classes)]
        self.weights = torch.nn.ParameterList(
            torch.nn.init.xavier_uniform_(torch.empty(s)) for s in shapes for _ in range(terms)
        )
        self.biases = torch.nn.ParameterList(torch.zeros(s[1]) for s in shapes)

    def layer(self, number, product):
        if self.kind == "mlp":
            return product(self.weights[number]) + self.biases[number]
        if self.kind == "gcn":
            return Product.apply(self.hops, product(self.weights[number])) + self.biases[number]
        own, around = self.weights[2 * number : 2 * number + 2]
        return product(own) + Product.apply(self.hops, product(around)) + self.biases[number]

    def forward(self, x):
        h = self.layer(0, lambda w: Product.apply(x, w)).relu()
        h = torch.nn.functional.dropout(h, self.dropout, self.training)
        return self.layer(1, lambda w: h @ w)


def network(graph, kind, hidden=64, epochs=200, seeds=5):
    train, val, test = (torch.from_numpy(part) for part in graph.parts)
    y = torch.from_numpy(graph.y)
    x = both_ways(graph.x)
    hops = {"mlp": None, "gcn": graph.normalized, "sage": graph.mean}[kind]
    hops = both_ways(hops()) if hops else None
    results = []
    for seed in range(seeds):
        torch.manual_seed(seed)
        model = Network(kind, hops, graph.x.shape[1], graph.classes, hidden, 0.5)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
        best, result = -1.0, 0.0
        for _ in range(epochs):
            model.train()
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x)[train], y[train]).backward()
            optimizer.step()
            model.eval()
            with torch.no_grad():
                right = model(x).argmax(1) == y
            score = right[val].float().mean().item()
            if score > best:
                best, result = score, right[test].float().mean().item()
        results.append(100 * result)
    return np.mean(results), np.std(results)


def main():
    warnings.filterwarnings("ignore")
    for path in sys.argv[1:]:
        graph = Graph(path)
        print(path, flush=True)
        counts = np.bincount(graph.y[graph.parts[0]])
        print(f"  majority class: {100 * np.mean(graph.y[graph.parts[2]] == counts.argmax()):.1f}")
        for kind in ("mlp", "gcn", "sage"):
            mean, deviation = network(graph, kind)
            print(f"  {kind}: {mean:.1f} +- {deviation:.1f}", flush=True)
        for name, x in (
            ("own words", graph.x),
            ("GCN-smoothed words", graph.normalized() @ graph.x),
            ("own words beside the neighbors' mean", sp.hstack([graph.x, graph.mean() @ graph.x])),
        ):
            accuracy, c = logistic_regression(graph, x.tocsr())
            print(f"  logistic regression, {name}: {100 * accuracy:.1f} (C = {c})", flush=True)


if __name__ == "__main__":
    main()
