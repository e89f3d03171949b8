// SPDX-License-Identifier: Apache-2.0
//
// Who is counted, as text.
//   out.Write(CountingText(response, style));
//   out.Write(ExplanationText(question, explanation, style));
#ifndef SIDEBAND_CLIENT_COUNTING_COUNTING_TEXT_H_
#define SIDEBAND_CLIENT_COUNTING_COUNTING_TEXT_H_

#include <string>

#include "client/cli/table.h"
#include "client/counting/explain.h"
#include "sideband/v1/counting.pb.h"

namespace sideband::client {

// A line of the device, a table of its gate groups, a table of the VMs, and a line for each refused setting.
std::string CountingText(const v1::GetCountingResponse& response, const TableStyle& style);

// The rule, its terms in a table, and what follows until the settings are in force.
std::string ExplanationText(const ExplainQuestion& question, const Explanation& explanation, const TableStyle& style);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_COUNTING_COUNTING_TEXT_H_
