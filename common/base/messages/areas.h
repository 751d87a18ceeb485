// The catalogue's areas: one file each, one table each. Add an area here and in areas.cc.
#ifndef ASSAY_COMMON_BASE_MESSAGES_AREAS_H_
#define ASSAY_COMMON_BASE_MESSAGES_AREAS_H_

#include <vector>

#include "absl/types/span.h"
#include "common/base/message.h"

namespace assay::messages {

absl::Span<const CatalogueEntry> Agent();     // session, spool, guard, command line
absl::Span<const CatalogueEntry> Cli();       // headings and hints of the `assay` command
absl::Span<const CatalogueEntry> Command();   // `assay-agent probe`: help, labels, complaints
absl::Span<const CatalogueEntry> CliHelp();   // help of the `assay` command
absl::Span<const CatalogueEntry> CliWords();  // headings of tables, enumerators
absl::Span<const CatalogueEntry> Document();  // YAML, units, windows, plans
absl::Span<const CatalogueEntry> Guard();     // agent.yaml, and what it refuses
absl::Span<const CatalogueEntry> Identity();  // certificates, tokens, roles
absl::Span<const CatalogueEntry> Probe();     // probes and their outcomes
absl::Span<const CatalogueEntry> Server();    // coordinator: runs, dispatch
absl::Span<const CatalogueEntry> Store();     // database and migrations
absl::Span<const CatalogueEntry> System();    // files, network, processes
absl::Span<const CatalogueEntry> Term();      // options that every command has
absl::Span<const CatalogueEntry> Verdict();   // criteria and decisions

std::vector<absl::Span<const CatalogueEntry>> Areas();

}  // namespace assay::messages

#endif  // ASSAY_COMMON_BASE_MESSAGES_AREAS_H_
