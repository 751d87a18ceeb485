#include "common/base/messages/areas.h"

namespace assay::messages {

std::vector<absl::Span<const CatalogueEntry>> Areas() {
  return {Agent(),    Cli(),   CliHelp(), CliWords(), Command(), Document(), Guard(),
          Identity(), Probe(), Server(),  Store(),    System(),  Term(),     Verdict()};
}

}  // namespace assay::messages
