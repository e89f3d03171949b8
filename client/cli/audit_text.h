// SPDX-License-Identifier: Apache-2.0
//
// Renders the output of `sideband audit`.
//   out.Write(ChainText(chain.summary()));
//   out.Write(EntryTitle(style) + EntryText(line.entry, style));
#ifndef SIDEBAND_CLIENT_CLI_AUDIT_TEXT_H_
#define SIDEBAND_CLIENT_CLI_AUDIT_TEXT_H_

#include <string>

#include "client/cli/table.h"
#include "proto/audit/chain.h"
#include "proto/audit/entry.h"

namespace sideband::client {

// A summary of several lines: number of entries, time range, head, and notes about irregularities.
std::string ChainText(const ChainSummary& summary);
// The same as one JSON object of several lines.
std::string ChainJson(const ChainSummary& summary);

// Columns have fixed widths, which fit most entries, so that lines can be printed while the log is being read. Unless
// the style is wide, principal and resource are on further lines, and no line exceeds kTableColumns.
std::string EntryTitle(const TableStyle& style);
std::string EntryText(const AuditEntry& entry, const TableStyle& style);

// Entries as comma-separated values; details are separated by "; ".
std::string EntryCsvTitles();
std::string EntryCsv(const AuditEntry& entry);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_AUDIT_TEXT_H_
