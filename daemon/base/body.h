// SPDX-License-Identifier: Apache-2.0
//
// The bytes of a response. Its middle part may be shared by many responses and is never copied.
//   Body body = Body::Of("not found\n");
//   Body scrape{.head = ages, .shared = text->text(), .owner = text};
#ifndef SIDEBAND_DAEMON_BASE_BODY_H_
#define SIDEBAND_DAEMON_BASE_BODY_H_

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace sideband::daemon {

struct Body {
  std::string head;
  absl::string_view shared;
  std::shared_ptr<const void> owner;  // keeps the memory of `shared` alive
  std::string tail;

  static Body Of(std::string text) { return {.head = std::move(text)}; }
  size_t size() const { return head.size() + shared.size() + tail.size(); }
  std::string ToString() const { return absl::StrCat(head, shared, tail); }
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_BASE_BODY_H_
