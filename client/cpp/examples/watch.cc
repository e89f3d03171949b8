// SPDX-License-Identifier: Apache-2.0
//
// Prints what each scope counted from one update to the next, until a number of updates, over restarts of the daemon.
//
//   g++ -std=c++20 -o watch watch.cc $(pkg-config --cflags --libs sideband)
//   ./watch client.yaml [UPDATES [EVENT]…]
#include <sideband/client.h>
#include <sideband/rates.h>

#include <cstdlib>
#include <iostream>
#include <map>

namespace {

// Prints items; counts the updates.
class Watch {
 public:
  void operator()(const sideband::Update& update) {
    const sideband::Snapshot& now = update.snapshot;
    const sideband::Snapshot& before = before_[now.device];
    for (const sideband::ScopeIncreases& row : sideband::IncreasesBetween(before, now)) {
      for (const sideband::Increase& one : row.increases) {
        std::cout << sideband::FormatTime(now.host_time) << " " << now.device << " " << row.scope.vm << " "
                  << row.scope.context << " " << one.event << " " << one.count << " " << one.per_second << "/s\n";
      }
    }
    before_[now.device] = now;
    ++updates_;
  }
  void operator()(const sideband::Gap& gap) { std::cout << "gap " << gap.device << "\n"; }
  void operator()(const sideband::Resumed& resumed) { std::cout << "resumed " << resumed.device << "\n"; }
  void operator()(const sideband::Interrupted& lost) { std::cout << "lost: " << lost.error.message << "\n"; }
  void operator()(const sideband::Synced&) {
    std::cout << "synced"
              << "\n";
  }
  void operator()(const sideband::SensorUpdate&) {}
  void operator()(const sideband::Change&) {}

  int updates() const { return updates_; }

 private:
  std::map<std::string, sideband::Snapshot> before_;  // by device
  int updates_ = 0;
};

int Fail(const sideband::Error& error) {
  std::cerr << "watch: " << sideband::ErrorCodeName(error.code) << ": " << error.message << "\n";
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const auto client = sideband::Client::Connect({.config_file = argc > 1 ? argv[1] : ""});
  if (!client) return Fail(client.error());
  sideband::StreamOptions options;
  for (int i = 3; i < argc; ++i) options.filter.events.emplace_back(argv[i]);
  auto stream = client->Subscribe(options);
  if (!stream) return Fail(stream.error());
  const int wanted = argc > 2 ? std::atoi(argv[2]) : 10;
  Watch watch;
  while (watch.updates() < wanted) {
    const auto item = stream->Next();
    if (!item) return Fail(item.error());
    std::visit(watch, *item);
    std::cout << std::flush;
  }
  return 0;
}
