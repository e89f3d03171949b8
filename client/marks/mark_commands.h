// SPDX-License-Identifier: Apache-2.0
//
// `sideband mark`, `marks` and `span`: instants of a VM's work, and what it counted between them; `sideband clocks`:
// the clocks of a device.
//   commands.push_back(NewSpanCommand());
#ifndef SIDEBAND_CLIENT_MARKS_MARK_COMMANDS_H_
#define SIDEBAND_CLIENT_MARKS_MARK_COMMANDS_H_

#include <memory>
#include <string>

#include "client/cli/command.h"
#include "client/cli/table.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::client {

// Marks, spans and clocks as tables.

// "mark 3 of vm1/train asked at 12.345678901 s: LABEL".
std::string MarkLine(const v1::MarkInfo& mark);
std::string MarksTable(const v1::ListMarksResponse& response, const TableStyle& style);
// From where to where, how long, and a row for each counter that has counted.
std::string SpanTable(const v1::GetSpanResponse& response, const TableStyle& style);
std::string ClocksTable(const v1::ListClocksResponse& response, const TableStyle& style);

std::unique_ptr<Command> NewMarkCommand();
std::unique_ptr<Command> NewMarksCommand();
std::unique_ptr<Command> NewSpanCommand();
std::unique_ptr<Command> NewClocksCommand();

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_MARKS_MARK_COMMANDS_H_
