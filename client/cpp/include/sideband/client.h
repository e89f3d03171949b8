// SPDX-License-Identifier: Apache-2.0
//
// A client of sidebandd, for tenants and operators.
//   const auto client = sideband::Client::Connect();
//   if (!client) {
//     std::cerr << client.error().message << "\n";
//     return 1;
//   }
//   const auto snapshots = client->GetSnapshots({.vm = "vm1"});
//   if (!snapshots) return 1;
//   for (const sideband::Snapshot& snapshot : *snapshots) std::cout << snapshot.device << "\n";
// Compile with `pkg-config --cflags --libs sideband`, C++20.
#ifndef SIDEBAND_CLIENT_H_
#define SIDEBAND_CLIENT_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "sideband/device.h"
#include "sideband/error.h"
#include "sideband/export.h"
#include "sideband/history.h"
#include "sideband/marks.h"
#include "sideband/sensors.h"
#include "sideband/snapshot.h"
#include "sideband/stream.h"
#include "sideband/time.h"

namespace sideband {

namespace library {
class ClientState;
}

// Limits of one answer; a larger one is kProtocol.
inline constexpr size_t kAnswerBytesMax = 16 << 20;
inline constexpr size_t kScopesMax = 65536;
inline constexpr size_t kCountersMax = 1 << 20;  // of all its scopes together
inline constexpr size_t kDevicesMax = 4096;

// Empty members are taken from the configuration file, and are not set if that does not have them.
struct ClientOptions {
  // The file of the program `sideband`, client.yaml. Empty: $SIDEBAND_CONFIG, or else
  // ~/.config/sideband/client.yaml if that exists, or else none.
  std::string config_file;
  // HOST:PORT, [IPv6]:PORT or unix:PATH. Default: 127.0.0.1:9878.
  std::string address;
  // PEM files: the authority of the daemon's certificate, and the caller's own certificate and key.
  std::string ca_file;
  std::string cert_file;
  std::string key_file;
  // A bearer token, beside the certificate or in its place.
  std::string token_file;
  // The name in the daemon's certificate, if it is not the host of the address.
  std::string server_name;
  // The longest time of a call, with the connection; above 0. Streams have none.
  Duration timeout = std::chrono::seconds(10);
};

// Thread-safe. Must not be moved or destroyed while a call is in flight; a client that was moved from can only be
// destroyed or assigned to. Calls block, for `timeout` at most, and are never repeated by the library. A process must
// not use a client that it had before fork(). Lack of memory ends the process.
//
// Errors of all calls: kUnavailable, kDeadlineExceeded, kUnauthenticated, kPermissionDenied, kResourceExhausted (a
// quota), kProtocol; those of one call are beside it. Names in answers may be chosen by other parties: escape them for
// terminals.
//
// Certificates, key and token are files that are renewed during operation. Before each call the library looks whether
// they have changed, and connects by the new ones; while they cannot be used, as between the renewal of certificate and
// key, the old connection goes on.
class SIDEBAND_EXPORT Client {
 public:
  // Reads the configuration and the files that it names. kInvalidArgument or kNotFound with the file and, where there
  // is one, the line. The first call connects.
  static Result<Client> Connect(const ClientOptions& options = {}) noexcept;

  explicit Client(std::unique_ptr<library::ClientState> state) noexcept;
  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;
  ~Client();

  // The devices of the daemon's host that are visible to the caller.
  Result<std::vector<Device>> ListDevices() const noexcept;
  // The events that a device counts; an empty name: all visible devices. kNotFound.
  Result<std::vector<DeviceEvents>> ListEvents(const std::string& device = {}) const noexcept;
  // The scopes whose counters the caller may read; likewise.
  Result<std::vector<Scope>> ListScopes(const std::string& device = {}) const noexcept;

  // The newest counters: a snapshot for each device that has any for the caller. kNotFound.
  Result<std::vector<Snapshot>> GetSnapshots(const Filter& filter = {}) const noexcept;
  // kNotFound; kFailedPrecondition: the daemon keeps no history.
  Result<History> GetHistory(const HistoryRequest& request = {}) const noexcept;
  // The newest values of boards' sensors. kNotFound; kUnimplemented.
  Result<std::vector<DeviceSensors>> GetSensors(const SensorFilter& filter = {}) const noexcept;

  // Marks the present instant of a VM's or context's work. kNotFound; kFailedPrecondition: the device takes no marks;
  // kResourceExhausted: too many.
  Result<Mark> PlaceMark(const MarkRequest& request) const noexcept;
  // The marks that the daemon keeps, oldest first. kNotFound.
  Result<std::vector<Mark>> ListMarks(const MarkFilter& filter = {}) const noexcept;
  // The counts between two marks. kNotFound; kFailedPrecondition: a mark is pending, was lost, or they are of
  // different boots or generations.
  Result<Span> GetSpan(const SpanRequest& request) const noexcept;

  // A stream, which connects at its first Next(). kInvalidArgument: bounds of the options.
  Result<Stream> Subscribe(const StreamOptions& options = {}) const noexcept;

 private:
  std::unique_ptr<library::ClientState> state_;
};

}  // namespace sideband

#endif  // SIDEBAND_CLIENT_H_
