// SPDX-License-Identifier: Apache-2.0
//
// Prints the newest counters that the caller may read.
//
//   g++ -std=c++20 -o snapshot snapshot.cc $(pkg-config --cflags --libs sideband)
//   ./snapshot [client.yaml]
#include <sideband/client.h>

#include <iostream>

namespace {

// "vm1/train"; "-" is the device itself.
std::string NameOf(const sideband::Scope& scope) {
  if (scope.host) return "host of slice " + std::to_string(scope.slice.value_or(0));
  if (scope.vm.empty()) return "-";
  return scope.context.empty() ? scope.vm : scope.vm + "/" + scope.context;
}

void Print(const sideband::Snapshot& snapshot) {
  std::cout << snapshot.device << " at " << sideband::FormatTime(snapshot.host_time) << "\n";
  for (const sideband::ScopeCounters& row : snapshot.scopes) {
    for (const sideband::Counter& counter : row.counters) {
      std::cout << "  " << NameOf(row.scope) << "  " << counter.event << "  " << (counter.estimate ? "~" : "")
                << counter.count << "\n";
    }
  }
}

int Fail(const sideband::Error& error) {
  std::cerr << "snapshot: " << sideband::ErrorCodeName(error.code) << ": " << error.message << "\n";
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const auto client = sideband::Client::Connect({.config_file = argc > 1 ? argv[1] : ""});
  if (!client) return Fail(client.error());
  const auto snapshots = client->GetSnapshots();
  if (!snapshots) return Fail(snapshots.error());
  for (const sideband::Snapshot& snapshot : *snapshots) Print(snapshot);
  return 0;
}
