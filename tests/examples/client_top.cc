// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/cli/command.h"
#include "client/top/a_site.h"
#include "client/top/feed.h"
#include "client/top/full_screen.h"
#include "client/top/layout.h"
#include "client/top/model.h"
#include "client/top/rows.h"
#include "client/top/terminal_screen.h"
#include "client/top/terminal_type.h"
#include "client/top/view.h"
#include "proto/base/status_macros.h"

namespace sideband::client::top {
namespace {

void Draw(const Line& line);
void Show(const std::string& name, v1::Device::State state);
void Refuse();
void Press(const Key& key);

void UseASite(Model& model, absl::Time now) {
  //@ client/top/a_site.h
}

absl::Status UseFeed(CommandContext& context, Wake& wake, std::vector<Row>& rows, const RowOptions& options,
                     absl::Time now) {
  //@ client/top/feed.h
  return absl::OkStatus();
}

absl::Status UseFullScreen(CommandContext& context, const std::string& address, const std::string& event,
                           Signals& signals, Wake& wake, std::unique_ptr<Feeds> feeds,
                           std::unique_ptr<TerminalScreen> terminal) {
  //@ client/top/full_screen.h
}

void UseLayout(const Frame& frame) {
  //@ client/top/layout.h
}

void UseModel(const v1::Snapshot& snapshot, absl::Time now) {
  //@ client/top/model.h
}

void UseRows(const Model& model, absl::Time now) {
  //@ client/top/rows.h
}

absl::Status UseTerminalScreen(CommandContext& context, const Frame& frame) {
  //@ client/top/terminal_screen.h
  return absl::OkStatus();
}

void UseTerminalType() {
  //@ client/top/terminal_type.h
}

void UseView(const Key& key, const Model& model, size_t page, absl::Time now, const std::vector<std::string>& events) {
  //@ client/top/view.h
}

}  // namespace
}  // namespace sideband::client::top
