// SPDX-License-Identifier: Apache-2.0
//
// Rows as the lines of a screen.
//   const Screen screen = Lay(frame, {.rows = 24, .columns = 80});
//   for (const Line& line : screen) Draw(line);
#ifndef SIDEBAND_CLIENT_TOP_LAYOUT_H_
#define SIDEBAND_CLIENT_TOP_LAYOUT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "client/cli/console.h"
#include "client/cli/table.h"
#include "client/top/rows.h"
#include "client/top/view.h"

namespace sideband::client::top {

// The smallest terminal that has room for everything.
inline constexpr TerminalSize kSmallest{.rows = 24, .columns = 80};

enum class Style { kPlain, kHeading, kSelected, kGood, kWarning, kBad, kBar };

struct Span {
  std::string text;
  Style style = Style::kPlain;
};
// Its texts are as wide as the screen or narrower.
using Line = std::vector<Span>;
using Screen = std::vector<Line>;

// The content of a screen.
struct Frame {
  const View& view;
  const std::vector<Row>& rows;  // settled in the view
  std::string peer;              // the daemon's address
  std::string connection;        // empty while connected
  std::string event;             // that is chosen
  std::string time;              // of the data
  bool is_unicode = true;        // otherwise only ASCII is drawn
};

// The number of rows of the tree that a terminal shows; at least 1.
size_t PageOf(const TerminalSize& size);

// At most size.rows lines of at most size.columns. Below kSmallest, one line that says so.
Screen Lay(const Frame& frame, const TerminalSize& size);

// The rows as plain text, for pipes and logs: a line with peer, time and event, titles, and a line per row. Without
// the groups of events, which are closed, and the history; with a column of the host if there are several.
std::string BatchText(const Frame& frame, const TableStyle& style);

// A bar of `width` cells for a share from 0 to 1.
std::string BarText(double share, size_t width, bool is_unicode);
// The newest `width` of the values, one cell each. Utilisations are drawn from 0 to 1, others from 0 to their maximum.
// A value that is not known is a space.
std::string SparkText(const std::vector<double>& values, bool is_share, size_t width, bool is_unicode);

}  // namespace sideband::client::top

#endif  // SIDEBAND_CLIENT_TOP_LAYOUT_H_
