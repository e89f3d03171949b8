// SPDX-License-Identifier: Apache-2.0
#include "client/top/view.h"

#include <algorithm>

namespace sideband::client::top {
namespace {

constexpr size_t kFilterBytesMax = 64;
constexpr int kSorts = 3;

// The keys of terminals in raw mode.
constexpr char kControlC = 0x03, kControlL = 0x0c, kControlZ = 0x1a, kControlBackslash = 0x1c;

// Removes the last UTF-8 character.
void DropLast(std::string& text) {
  while (!text.empty() && (text.back() & 0xC0) == 0x80) text.pop_back();
  if (!text.empty()) text.pop_back();
}

}  // namespace

Request View::Press(const Key& key, const Seen& seen) {
  const char character = key.text.size() == 1 ? key.text[0] : '\0';
  switch (character) {
    case kControlC:
    case kControlBackslash:
      return Request::kQuit;
    case kControlZ:
      return Request::kSuspend;
    case kControlL:
      return Request::kRedraw;
  }
  if (is_typing_) {
    Type(key);
    return Request::kNone;
  }
  if (is_help_) {
    is_help_ = false;  // any key closes the help
    return character == 'q' ? Request::kQuit : Request::kNone;
  }
  if (character != '\0') return Command(character, seen);
  Move(key.special, seen);
  return Request::kNone;
}

void View::Type(const Key& key) {
  if (key.special == Special::kEscape) typed_.clear();
  if (key.special == Special::kEnter || key.special == Special::kEscape) is_typing_ = false;
  if (key.special == Special::kBackspace) DropLast(typed_);
  const bool is_printable = !key.text.empty() && static_cast<unsigned char>(key.text[0]) >= ' ';
  if (is_printable && typed_.size() + key.text.size() <= kFilterBytesMax) typed_ += key.text;
  options_.filter = typed_;
}

Request View::Command(char key, const Seen& seen) {
  switch (key) {
    case 'q':
      return Request::kQuit;
    case '?':
      is_help_ = true;
      break;
    case 'p':
      is_paused_ = !is_paused_;
      break;
    case 's':
      options_.sort = static_cast<Sort>((static_cast<int>(options_.sort) + 1) % kSorts);
      break;
    case 'r':
      options_.is_reversed = !options_.is_reversed;
      break;
    case 'e':
      ChooseEvent(1, seen);
      break;
    case 'E':
      ChooseEvent(-1, seen);
      break;
    case '/':
      is_typing_ = true;
      break;
    case ' ':
      Toggle(seen);
      break;
    case 'j':
      Move(Special::kDown, seen);
      break;
    case 'k':
      Move(Special::kUp, seen);
      break;
    case 'h':
      Move(Special::kLeft, seen);
      break;
    case 'l':
      Move(Special::kRight, seen);
      break;
  }
  return Request::kNone;
}

void View::Move(Special key, const Seen& seen) {
  const size_t last = seen.rows.empty() ? 0 : seen.rows.size() - 1;
  switch (key) {
    case Special::kUp:
      return Select(cursor_ - std::min<size_t>(cursor_, 1), seen);
    case Special::kDown:
      return Select(cursor_ + 1, seen);
    case Special::kPageUp:
      return Select(cursor_ - std::min(cursor_, seen.page), seen);
    case Special::kPageDown:
      return Select(cursor_ + seen.page, seen);
    case Special::kHome:
      return Select(0, seen);
    case Special::kEnd:
      return Select(last, seen);
    case Special::kEnter:
      return Toggle(seen);
    case Special::kRight:
      return Set(true, seen);
    case Special::kLeft:
      return CloseOrLeave(seen);
    case Special::kEscape:
      typed_.clear();
      options_.filter.clear();
      return;
    case Special::kBackspace:
    case Special::kNone:
      return;
  }
}

void View::Select(size_t row, const Seen& seen) {
  if (seen.rows.empty()) return;
  cursor_ = std::min(row, seen.rows.size() - 1);
  selected_ = seen.rows[cursor_].key;
}

void View::Toggle(const Seen& seen) {
  if (cursor_ >= seen.rows.size() || !seen.rows[cursor_].has_children) return;
  const RowKey& key = seen.rows[cursor_].key;
  if (options_.toggled.erase(key) == 0) options_.toggled.insert(key);
}

void View::Set(bool is_open, const Seen& seen) {
  if (cursor_ < seen.rows.size() && seen.rows[cursor_].is_open != is_open) Toggle(seen);
}

void View::CloseOrLeave(const Seen& seen) {
  if (cursor_ >= seen.rows.size()) return;
  if (seen.rows[cursor_].is_open) return Toggle(seen);
  // The row above that is less deep contains this one.
  for (size_t i = cursor_; i-- > 0;) {
    if (seen.rows[i].depth < seen.rows[cursor_].depth) return Select(i, seen);
  }
}

void View::ChooseEvent(int step, const Seen& seen) {
  if (seen.events.empty()) return;
  const auto count = static_cast<int>(seen.events.size());
  const auto found = std::ranges::find(seen.events, seen.event);
  const int index = found == seen.events.end() ? 0 : static_cast<int>(found - seen.events.begin());
  options_.event = seen.events[static_cast<size_t>((index + step + count) % count)];
}

size_t View::Settle(const std::vector<Row>& rows, size_t page) {
  if (const auto found = std::ranges::find(rows, selected_, &Row::key); found != rows.end()) {
    cursor_ = static_cast<size_t>(found - rows.begin());
  } else {
    cursor_ = rows.empty() ? 0 : std::min(cursor_, rows.size() - 1);
    if (!rows.empty()) selected_ = rows[cursor_].key;
  }
  page = std::max<size_t>(page, 1);
  first_ = std::clamp(first_, cursor_ + 1 - std::min(cursor_ + 1, page), cursor_);
  first_ = std::min(first_, rows.size() - std::min(rows.size(), page));  // no empty lines where rows remain
  return cursor_;
}

}  // namespace sideband::client::top
