// SPDX-License-Identifier: Apache-2.0
//
// A value, or the reason why there is none. No function of the library throws, and none expects the caller to catch.
//   const sideband::Result<std::vector<sideband::Device>> devices = client.ListDevices();
//   if (!devices) {
//     std::cerr << sideband::ErrorCodeName(devices.error().code) << ": " << devices.error().message << "\n";
//     return 1;
//   }
//   for (const sideband::Device& device : *devices) std::cout << device.name << "\n";
#ifndef SIDEBAND_ERROR_H_
#define SIDEBAND_ERROR_H_

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <variant>

#include "sideband/export.h"

namespace sideband {

enum class ErrorCode {
  // The options, the configuration, a file that it names, or a request.
  kInvalidArgument,
  // The request names a thing that does not exist, or that this caller may not see: the daemon has one answer for both.
  kNotFound,
  // The daemon does not know this certificate or token, or no longer.
  kUnauthenticated,
  kPermissionDenied,
  // The request needs what the device or the daemon does not have, or has not yet.
  kFailedPrecondition,
  // A limit of the daemon. The message says when to try again if the daemon does.
  kResourceExhausted,
  // The daemon cannot be reached, or is stopping.
  kUnavailable,
  // The daemon has not answered in time.
  kDeadlineExceeded,
  // Stream::Cancel(), or the daemon has given up the call.
  kCancelled,
  // The requested state has changed meanwhile: ask again.
  kAborted,
  // The daemon is older than the request.
  kUnimplemented,
  // The daemon's answer contradicts itself, an earlier one, or the limits of this library. The message says what it
  // was.
  kProtocol,
  // None of the above: a defect.
  kInternal,
};

// The name without the k: "NotFound". "Unknown" for a value that is none of the enumerators.
SIDEBAND_EXPORT const char* ErrorCodeName(ErrorCode code) noexcept;

struct Error {
  ErrorCode code = ErrorCode::kInternal;
  // One line for people, without control characters. Its words may change.
  std::string message;

  bool operator==(const Error&) const = default;
};

namespace internal {
// The caller's defect: ends the process, as reading an empty std::optional might not.
[[noreturn]] inline void NoValue(const Error& error) {
  std::fprintf(stderr, "sideband: the value of a failed Result was used: %s\n", error.message.c_str());
  std::abort();
}
}  // namespace internal

// Either a T or an Error, never neither. As thread-safe as T. value(), * and -> of a failed result, and error() of a
// good one, end the process with a message.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : content_(std::move(value)) {}      // NOLINT(google-explicit-constructor): returned as it is
  Result(Error error) : content_(std::move(error)) {}  // NOLINT(google-explicit-constructor): returned as it is

  bool ok() const { return std::holds_alternative<T>(content_); }
  explicit operator bool() const { return ok(); }

  const T& value() const& { return Get(*this); }
  T& value() & { return Get(*this); }
  T&& value() && { return std::move(Get(*this)); }
  const T& operator*() const& { return value(); }
  T& operator*() & { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  const T* operator->() const { return &value(); }
  T* operator->() { return &value(); }

  const Error& error() const {
    if (ok()) internal::NoValue({ErrorCode::kInternal, "there is no error"});
    return *std::get_if<Error>(&content_);
  }

 private:
  template <typename Self>
  static auto& Get(Self& self) {
    if (!self.ok()) internal::NoValue(self.error());
    return *std::get_if<T>(&self.content_);
  }

  std::variant<T, Error> content_;
};

}  // namespace sideband

#endif  // SIDEBAND_ERROR_H_
