// SPDX-License-Identifier: Apache-2.0
//
// What `sideband audit` prints.
//   out.Write(ChainText(chain.summary()));
//   out.Write(EntryTitle() + EntryText(line.entry));
#ifndef SIDEBAND_CLIENT_CLI_AUDIT_TEXT_H_
#define SIDEBAND_CLIENT_CLI_AUDIT_TEXT_H_

#include <string>

#include "proto/audit/chain.h"
#include "proto/audit/entry.h"

namespace sideband::client {

// Several lines: how many entries, from when to when, the head, what is odd.
std::string ChainText(const ChainSummary& summary);
// The same as one JSON object of several lines.
std::string ChainJson(const ChainSummary& summary);

// The columns of entries: those that a line is likely to need have a width of their own, so that lines can be printed
// as they are read.
std::string EntryTitle();
std::string EntryText(const AuditEntry& entry);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_AUDIT_TEXT_H_
