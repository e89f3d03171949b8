// SPDX-License-Identifier: Apache-2.0
//
// Telemetry.Mark, ListMarks and GetSpan, for every front end.
//   const MarkQueries marks(reader, book, sink);
//   SIDEBAND_RETURN_IF_ERROR(marks.Mark(caller, request, done));
//   SIDEBAND_ASSIGN_OR_RETURN(auto span, marks.GetSpan(caller, span_request));
#ifndef SIDEBAND_DAEMON_VIEW_MARK_QUERIES_H_
#define SIDEBAND_DAEMON_VIEW_MARK_QUERIES_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/counting/mark_book.h"
#include "daemon/view/reader.h"
#include "daemon/view/row_filter.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {

// Thread-safe. The constructor's arguments must outlive it, and the answers of `sink`.
class MarkQueries {
 public:
  using Done = std::function<void(const absl::StatusOr<sideband::v1::MarkResponse>& response)>;

  MarkQueries(Reader& reader, MarkBook& book, BookmarkSink& sink) : reader_(reader), book_(book), sink_(sink) {}

  // Does not wait for the device. After an error `done` is not called; otherwise once, on the device's thread. Errors
  // are those of telemetry.proto; NotFound() also without the right `mark`.
  absl::Status Mark(const Caller& caller, const sideband::v1::MarkRequest& request, Done done) const;
  // NotFound() where the request names what the caller does not see.
  absl::StatusOr<sideband::v1::ListMarksResponse> ListMarks(const Caller& caller,
                                                            const sideband::v1::ListMarksRequest& request) const;
  // NotFound() also for marks of rows that the caller may not read.
  absl::StatusOr<sideband::v1::GetSpanResponse> GetSpan(const Caller& caller,
                                                        const sideband::v1::GetSpanRequest& request) const;

  // Adds the marks of the device that the caller may read and the filter selects, oldest first of each VM. Nothing of a
  // device without a view.
  void AddMarks(const Caller& caller, const VisibleDevice& device, const RowFilter& filter,
                std::vector<sideband::v1::MarkInfo>& out) const;
  // Grows when any mark changes, also one that the caller may not see.
  uint64_t changes() const { return book_.changes(); }

 private:
  Reader& reader_;
  MarkBook& book_;
  BookmarkSink& sink_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_VIEW_MARK_QUERIES_H_
