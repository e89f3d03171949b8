// SPDX-License-Identifier: Apache-2.0
#include "client/top/terminal_screen.h"

#define NCURSES_NOMACROS 1
#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <langinfo.h>
#include <unistd.h>

#include <climits>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cwchar>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"

namespace sideband::client::top {
namespace {

constexpr int kEscapeDelayMs = 25;  // after which Esc is a key, and not the beginning of another
constexpr short kDefaultColour = -1;

// Pairs of colours by style; a style without a pair has the terminal's own.
enum Pair : short { kGoodPair = 1, kWarningPair, kBadPair, kBarPair };

void DefineColours() {
  start_color();
  use_default_colors();
  init_pair(kGoodPair, COLOR_GREEN, kDefaultColour);
  init_pair(kWarningPair, COLOR_YELLOW, kDefaultColour);
  init_pair(kBadPair, COLOR_RED, kDefaultColour);
  init_pair(kBarPair, COLOR_CYAN, kDefaultColour);
}

attr_t AttributesOf(Style style) {
  switch (style) {
    case Style::kPlain:
    case Style::kGood:
    case Style::kBar:
      return A_NORMAL;
    case Style::kHeading:
    case Style::kSelected:
      return A_REVERSE;
    case Style::kWarning:
    case Style::kBad:
      return A_BOLD;
  }
  return A_NORMAL;
}

short PairOf(Style style) {
  switch (style) {
    case Style::kPlain:
    case Style::kHeading:
    case Style::kSelected:
      return 0;
    case Style::kGood:
      return kGoodPair;
    case Style::kWarning:
      return kWarningPair;
    case Style::kBad:
      return kBadPair;
    case Style::kBar:
      return kBarPair;
  }
  return 0;
}

// Opens the screen without ncurses' own SIGTSTP, which it leaves alone where it finds a handler: while it draws it
// ignores that signal, and the kernel then discards one that is pending.
SCREEN* OpenScreen() {
  const auto before = std::signal(SIGTSTP, [](int) {});
  SCREEN* const screen = newterm(nullptr, stdout, stdin);
  std::signal(SIGTSTP, before);
  return screen;
}

Key SpecialKey(wint_t code) {
  static const std::map<wint_t, Special> kKeys = {{KEY_UP, Special::kUp},        {KEY_DOWN, Special::kDown},
                                                  {KEY_LEFT, Special::kLeft},    {KEY_RIGHT, Special::kRight},
                                                  {KEY_PPAGE, Special::kPageUp}, {KEY_NPAGE, Special::kPageDown},
                                                  {KEY_HOME, Special::kHome},    {KEY_END, Special::kEnd},
                                                  {KEY_ENTER, Special::kEnter},  {KEY_BACKSPACE, Special::kBackspace}};
  const auto found = kKeys.find(code);
  return {.special = found == kKeys.end() ? Special::kNone : found->second};
}

Key CharacterKey(wint_t character) {
  constexpr wint_t kEscape = 0x1b, kDelete = 0x7f;
  if (character == '\r' || character == '\n') return {.special = Special::kEnter};
  if (character == kEscape) return {.special = Special::kEscape};
  if (character == kDelete || character == '\b') return {.special = Special::kBackspace};
  char bytes[MB_LEN_MAX];
  std::mbstate_t state{};
  const size_t size = std::wcrtomb(bytes, static_cast<wchar_t>(character), &state);
  return size == static_cast<size_t>(-1) ? Key() : Key{.text = std::string(bytes, size)};
}

}  // namespace

absl::Status TerminalScreen::Check(const GetEnv& get_env) {
  if (::isatty(STDIN_FILENO) == 0 || ::isatty(STDOUT_FILENO) == 0) {
    return absl::InvalidArgumentError(
        "top: standard input and output must be a terminal; `sideband watch` and `top --batch --count 1` need none");
  }
  const std::string terminal = get_env("TERM").value_or("");
  if (HasFullScreen(terminal)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("top: TERM is '", Visible(terminal), "', which is not a known terminal with a full screen"));
}

absl::StatusOr<std::unique_ptr<TerminalScreen>> TerminalScreen::Open(const GetEnv& get_env) {
  SIDEBAND_RETURN_IF_ERROR(Check(get_env));
  // Numbers are not the locale's: only its characters matter.
  std::setlocale(LC_CTYPE, "");
  const bool is_unicode = std::string(::nl_langinfo(CODESET)) == "UTF-8";
  set_escdelay(kEscapeDelayMs);
  SCREEN* const screen = OpenScreen();
  if (screen == nullptr) return absl::InternalError("top: the terminal cannot be opened");
  const bool is_coloured = has_colors() && get_env("NO_COLOR").value_or("").empty();
  return std::unique_ptr<TerminalScreen>(new TerminalScreen(screen, is_unicode, is_coloured));
}

TerminalScreen::TerminalScreen(void* screen, bool is_unicode, bool has_colours)
    : screen_(screen), is_unicode_(is_unicode), has_colours_(has_colours) {
  if (has_colours_) DefineColours();
  raw();  // Ctrl-C and Ctrl-Z are keys
  noecho();
  nonl();
  keypad(stdscr, TRUE);
  nodelay(stdscr, TRUE);
  curs_set(0);
}

TerminalScreen::~TerminalScreen() {
  Leave();
  delscreen(static_cast<SCREEN*>(screen_));
}

TerminalSize TerminalScreen::size() const {
  return {.rows = static_cast<size_t>(getmaxy(stdscr)), .columns = static_cast<size_t>(getmaxx(stdscr))};
}

void TerminalScreen::Resize() {
  const TerminalSize size = SizeOfTerminal(STDOUT_FILENO).value_or(this->size());
  resizeterm(static_cast<int>(size.rows), static_cast<int>(size.columns));
  Invalidate();
}

void TerminalScreen::Draw(const Screen& screen) {
  erase();
  for (size_t row = 0; row < screen.size(); ++row) {
    move(static_cast<int>(row), 0);
    for (const Span& span : screen[row]) {
      attr_set(AttributesOf(span.style), has_colours_ ? PairOf(span.style) : short{0}, nullptr);
      addstr(span.text.c_str());
    }
  }
  refresh();
}

void TerminalScreen::Invalidate() { clearok(stdscr, TRUE); }

std::optional<Key> TerminalScreen::NextKey() {
  wint_t code = 0;
  const int kind = get_wch(&code);
  if (kind == ERR) return std::nullopt;
  return kind == KEY_CODE_YES ? SpecialKey(code) : CharacterKey(code);
}

void TerminalScreen::Leave() { endwin(); }

// The next refresh() enters the alternate screen again.
void TerminalScreen::Resume() { Resize(); }

}  // namespace sideband::client::top
