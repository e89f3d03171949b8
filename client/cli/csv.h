// SPDX-License-Identifier: Apache-2.0
//
// Lines of comma-separated values, as defined in RFC 4180.
//   CsvLine({"vm", "count"}) + CsvLine({"a,b", "12"})   // vm,count␍␊"a,b",12␍␊
#ifndef SIDEBAND_CLIENT_CLI_CSV_H_
#define SIDEBAND_CLIENT_CLI_CSV_H_

#include <string>
#include <vector>

namespace sideband::client {

// Quotes fields that contain a comma or a quotation mark, and doubles their quotation marks. Ends the line with CR LF.
// Control characters are escaped as in tables (proto/base/text.h). A field that a spreadsheet would evaluate, since
// it begins with '=', '+', '-' or '@' and is no number, begins with an apostrophe instead.
std::string CsvLine(const std::vector<std::string>& fields);

// The shortest decimal text that identifies the number uniquely.
std::string CsvNumber(double number);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_CSV_H_
