// SPDX-License-Identifier: Apache-2.0
//
// HTTP/2 frames for tests (RFC 9113, section 4.1).
//   client.Write(kPreface + Frame(0, kSettings));
#ifndef SIDEBAND_DAEMON_LISTEN_FAKE_FRAMES_H_
#define SIDEBAND_DAEMON_LISTEN_FAKE_FRAMES_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace sideband::daemon {

inline constexpr char kPreface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
inline constexpr uint8_t kData = 0, kHeaders = 1, kPriority = 2, kReset = 3, kSettings = 4, kPush = 5, kPing = 6,
                         kGoAway = 7, kWindowUpdate = 8, kContinuation = 9, kUnknown = 0x77;
inline constexpr uint8_t kEndStream = 1, kAck = 1, kEndHeaders = 4, kPadded = 8;

inline std::string Header(size_t size, uint8_t type, uint8_t flags = 0, uint32_t stream = 0) {
  std::string header;
  for (const int shift : {16, 8, 0}) header.push_back(static_cast<char>(size >> shift));
  header.push_back(static_cast<char>(type));
  header.push_back(static_cast<char>(flags));
  for (const int shift : {24, 16, 8, 0}) header.push_back(static_cast<char>(stream >> shift));
  return header;
}

inline std::string Frame(size_t size, uint8_t type, uint8_t flags = 0, uint32_t stream = 0) {
  return Header(size, type, flags, stream) + std::string(size, 'x');
}

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_LISTEN_FAKE_FRAMES_H_
