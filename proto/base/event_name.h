// SPDX-License-Identifier: Apache-2.0
//
// The names of an event that a caller may give: its full one, or the short one of screens and metrics, without the
// ending "_cycles". Answers have full names. Configuration has them, too: what a grant means must not depend on what
// else a device counts.
#ifndef SIDEBAND_PROTO_BASE_EVENT_NAME_H_
#define SIDEBAND_PROTO_BASE_EVENT_NAME_H_

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace sideband {

// Returns what `find` returns for the name as it is given; if that converts to false, what it returns for the name with
// "_cycles". `find` takes a std::string, and looks it up exactly among the events that the caller may know of: a denied
// event must not hide another.
template <typename Find>
auto FindEvent(absl::string_view name, const Find& find) {
  const auto found = find(std::string(name));
  return found ? found : find(absl::StrCat(name, "_cycles"));
}

}  // namespace sideband

#endif  // SIDEBAND_PROTO_BASE_EVENT_NAME_H_
