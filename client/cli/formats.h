// SPDX-License-Identifier: Apache-2.0
//
// The daemon's responses in the formats of scripts: CSV, as defined in RFC 4180, and JSON.
//
// CSV is a line of titles, then a line per row. Numbers are printed in full, times in UTC; flags are separated by
// spaces; unknown values are empty. JSON has field names as in the .proto, zeros included, and 64-bit numbers as
// decimal strings. Boot IDs are 16 hexadecimal digits (proto/base/text.h).
//   CsvLine({"vm", "count"}) + CsvLine({"a,b", "12"})   // vm,count␍␊"a,b",12␍␊
#ifndef SIDEBAND_CLIENT_CLI_FORMATS_H_
#define SIDEBAND_CLIENT_CLI_FORMATS_H_

#include <string>
#include <vector>

#include "client/cli/render.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::client {

// Quotes fields that contain a comma or a quotation mark, and doubles their quotation marks. Ends the line with CR LF.
// Control characters are escaped as in tables (proto/base/text.h). A field that a spreadsheet would evaluate, since
// it begins with '=', '+', '-' or '@' and is no number, begins with an apostrophe instead.
std::string CsvLine(const std::vector<std::string>& fields);

// The shortest decimal text that identifies the number uniquely.
std::string CsvNumber(double number);

// The titles once, then the lines of each daemon's answer.
std::string DevicesCsvTitles();
std::string DevicesCsv(const v1::ListDevicesResponse& response);
std::string EventsCsv(const v1::ListEventsResponse& response);
std::string ScopesCsv(const v1::ListScopesResponse& response);

// With its titles.
std::string PeekCsv(const v1::PeekResponse& response);

// The output for consecutive snapshots: the titles once, then the lines of each snapshot.
// With bounds four columns more, at the end: how exact the count is.
std::string SnapshotCsvTitles(Bounds bounds = Bounds::kHidden);
std::string SnapshotCsv(const v1::Snapshot& snapshot, Bounds bounds = Bounds::kHidden);

// Several indented lines, with a line break at the end.
std::string ToJson(const google::protobuf::Message& message);
// One line, without a line break.
std::string ToJsonLine(const google::protobuf::Message& message);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_FORMATS_H_
