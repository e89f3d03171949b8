// SPDX-License-Identifier: Apache-2.0
#include "proto/base/error_list.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace sideband {

bool ErrorList::Add(absl::Status status) {
  if (status.ok()) return true;
  // A file of many megabytes may have an error in each line; beyond the limit they are only counted.
  if (errors_.size() >= kErrorsMax) {
    ++count_;
    return false;
  }
  // A YAML alias has the errors of its anchor.
  if (std::find(errors_.begin(), errors_.end(), status) != errors_.end()) return false;
  ++count_;
  errors_.push_back(std::move(status));
  return false;
}

std::vector<absl::Status> ErrorList::All() const {
  std::vector<absl::Status> all = errors_;
  if (count_ > errors_.size()) {
    all.push_back(absl::InvalidArgumentError(absl::StrCat("and ", count_ - errors_.size(), " more errors")));
  }
  return all;
}

}  // namespace sideband
