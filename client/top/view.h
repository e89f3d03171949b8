// SPDX-License-Identifier: Apache-2.0
//
// How the user looks at the model, and what keys do to that.
//   View view;
//   const std::vector<Row> rows = BuildRows(model, view.options(), now);
//   view.Settle(rows, page);
//   if (view.Press(key, {.rows = rows, .events = events, .page = page}) == Request::kQuit) return;
#ifndef SIDEBAND_CLIENT_TOP_VIEW_H_
#define SIDEBAND_CLIENT_TOP_VIEW_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "client/top/rows.h"

namespace sideband::client::top {

enum class Special { kNone, kUp, kDown, kLeft, kRight, kPageUp, kPageDown, kHome, kEnd, kEnter, kEscape, kBackspace };

// A key: a special one, or a character as UTF-8.
struct Key {
  Special special = Special::kNone;
  std::string text;
};

// A job for the terminal's owner; everything else happens in the view.
enum class Request { kNone, kQuit, kSuspend, kRedraw };

// The user sees this when a key is pressed.
struct Seen {
  const std::vector<Row>& rows;
  const std::vector<std::string>& events;
  std::string event;  // that is shown
  size_t page = 1;    // the number of rows on the screen
};

// Pure state: no terminal, no clock. Not thread-safe.
class View {
 public:
  // How the user looks at first.
  explicit View(RowOptions options = {}) : options_(std::move(options)) {}

  Request Press(const Key& key, const Seen& seen);
  // Keeps the cursor on its row while rows come and go, and the row on the page. Returns the cursor's index; 0 if there
  // are no rows.
  size_t Settle(const std::vector<Row>& rows, size_t page);

  const RowOptions& options() const { return options_; }
  bool is_paused() const { return is_paused_; }
  bool is_help() const { return is_help_; }
  // Whether keys are typed into the filter.
  bool is_typing() const { return is_typing_; }
  const std::string& typed() const { return typed_; }
  size_t cursor() const { return cursor_; }
  size_t first() const { return first_; }  // the first row on the page

 private:
  void Type(const Key& key);
  void Move(Special key, const Seen& seen);
  Request Command(char key, const Seen& seen);
  void Set(bool is_open, const Seen& seen);
  void Toggle(const Seen& seen);
  void CloseOrLeave(const Seen& seen);
  void ChooseEvent(int step, const Seen& seen);
  void Select(size_t row, const Seen& seen);

  RowOptions options_;
  bool is_paused_ = false;
  bool is_help_ = false;
  bool is_typing_ = false;
  std::string typed_;
  RowKey selected_;
  size_t cursor_ = 0;
  size_t first_ = 0;
};

}  // namespace sideband::client::top

#endif  // SIDEBAND_CLIENT_TOP_VIEW_H_
