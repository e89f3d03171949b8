// SPDX-License-Identifier: Apache-2.0
//
// Lines of comma-separated values, as defined in RFC 4180.
//   CsvLine({"vm", "count"}) + CsvLine({"a,b", "12"})   // vm,count␍␊"a,b",12␍␊
#ifndef SIDEBAND_CLIENT_CLI_CSV_H_
#define SIDEBAND_CLIENT_CLI_CSV_H_

#include <string>
#include <vector>

namespace sideband::client {

// Quotes fields that contain a comma, a quotation mark or a line break, and doubles their quotation marks. Ends the
// line with CR LF. Fields are not escaped for spreadsheets: a spreadsheet may evaluate a field that begins with '='.
std::string CsvLine(const std::vector<std::string>& fields);

// The shortest decimal text that identifies the number uniquely.
std::string CsvNumber(double number);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_CSV_H_
