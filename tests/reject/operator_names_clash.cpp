// operator list: two operators share a name
#include <gnas/kernel/table.hpp>
#include <gnas/op/nas_bench.hpp>

struct Twin : gnas::op::Gcn {
#ifdef GNAS_FIXED
  static constexpr std::string_view name = "twin";
#endif
};
auto const& table = gnas::host_table<gnas::OperatorList<gnas::op::Gcn, Twin>, float>;
int main() { return table.size() == 2 ? 0 : 1; }
