// Names of the operators in the box, so that a space can list them without their bodies.
#pragma once

namespace gnas::op {

// NAS-Bench-Graph (Qin et al., NeurIPS 2022); "fc" and "skip" are a dense layer and an edge of the
// DAG.
struct Gat;
struct Gcn;
struct Gin;
struct Cheb;
struct Sage;
struct Arma;
struct Graph;

// GraphNAS (Gao et al., IJCAI 2020): an attention and an aggregator.
namespace attention {
struct Gat;
struct Gcn;
struct Cos;
struct Const;
struct GatSym;
struct Linear;
struct GeneralizedLinear;
}  // namespace attention
namespace aggregator {
struct Sum;
struct Mean;
struct Max;
struct Mlp;
}  // namespace aggregator
template <class Attention, class Aggregator>
struct GraphNas;

}  // namespace gnas::op
