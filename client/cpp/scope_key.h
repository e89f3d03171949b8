// SPDX-License-Identifier: Apache-2.0
//
// What identifies a scope of one device over generations.
//   std::unordered_map<std::string, const ScopeCounters*> rows;
//   rows.emplace(ScopeKey(row.scope), &row);
#ifndef SIDEBAND_CLIENT_CPP_SCOPE_KEY_H_
#define SIDEBAND_CLIENT_CPP_SCOPE_KEY_H_

#include <string>

#include "sideband/device.h"

namespace sideband::library {

// Names may have any bytes, so their lengths are part of the key.
inline std::string ScopeKey(const Scope& scope) {
  std::string key = scope.host ? "host" : "vm";
  key += scope.slice ? std::to_string(*scope.slice) : "-";
  for (const std::string* name : {&scope.vm_uuid, &scope.vm, &scope.context}) {
    key += ':' + std::to_string(name->size()) + ':' + *name;
  }
  return key;
}

}  // namespace sideband::library

#endif  // SIDEBAND_CLIENT_CPP_SCOPE_KEY_H_
