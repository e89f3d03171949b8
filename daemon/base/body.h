// SPDX-License-Identifier: Apache-2.0
//
// Bytes of an answer, of which those in the middle may be shared by many answers and are never copied.
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
  std::shared_ptr<const void> owner;  // keeps what `shared` points to, for as long as any answer needs it
  std::string tail;

  static Body Of(std::string text) { return {.head = std::move(text)}; }
  size_t size() const { return head.size() + shared.size() + tail.size(); }
  std::string ToString() const { return absl::StrCat(head, shared, tail); }
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_BASE_BODY_H_
