// SPDX-License-Identifier: Apache-2.0
//
// The guest ports of a device: a Unix socket for each register page (proto/registers/guest_port.h), and the list of
// events beside them.
//
//   SIDEBAND_ASSIGN_OR_RETURN(const auto ports, GuestPorts::Listen("ports", device.catalog(), registers, elapsed));
//   server->ServeFor(absl::Milliseconds(10), ports->fd());
//   ports->Serve();
//
// Each connection is a thread of its VM or context (guest_registers.h).
#ifndef SIDEBAND_SECURE_MCU_SERVE_GUEST_PORTS_H_
#define SIDEBAND_SECURE_MCU_SERVE_GUEST_PORTS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "proto/base/bytes.h"
#include "proto/base/file.h"
#include "proto/mailbox/catalog.h"
#include "secure_mcu/device/guest_registers.h"
#include "secure_mcu/serve/unix_listener.h"

namespace sideband::mcu {

// "vm1.sock", or "vm1.train.sock" of a context. Different pages have different files: as in a guest view's name, and
// dots within names become %2E.
std::string GuestPortFileName(absl::string_view vm, absl::string_view context);

// Not thread-safe.
class GuestPorts {
 public:
  // Connections of one port. Those beyond are closed at once.
  static constexpr size_t kConnectionsMax = 8;
  // The longest time for the rest of a frame.
  static constexpr absl::Duration kFrameTimeout = absl::Seconds(1);
  // The list of events in the folder (proto/registers/event_list.h): those that VMs count.
  static constexpr char kEventsFile[] = "events.csv";
  // The time since the server's start.
  using Elapsed = std::function<absl::Duration()>;

  // Makes `folder`, of mode 0700, unless it exists; sockets get mode 0600. Errors are those of UnixListener and of the
  // file system. `registers` must outlive it.
  static absl::StatusOr<std::unique_ptr<GuestPorts>> Listen(const std::string& folder, const mailbox::Catalog& catalog,
                                                            GuestRegisters& registers, Elapsed elapsed);
  // Removes the files, not the folder.
  ~GuestPorts();
  GuestPorts(const GuestPorts&) = delete;
  GuestPorts& operator=(const GuestPorts&) = delete;

  // Readable when Serve has something to do.
  int fd() const { return poll_.get(); }
  // Answers frames that have arrived, without waiting: a bounded number of each connection. Closes a connection that
  // sends a malformed frame or half a frame, or does not read its answers.
  void Serve();

 private:
  struct Port {
    size_t page;
    std::unique_ptr<UnixListener> listener;
    size_t connections = 0;
  };
  struct Connection {
    size_t port;
    Descriptor socket;
    Bytes input;  // less than a frame
    absl::Duration input_since;
  };

  GuestPorts(std::string folder, GuestRegisters& registers, Elapsed elapsed);

  absl::Status Open(const mailbox::Catalog& catalog);
  absl::Status WriteEventList(const mailbox::Catalog& catalog);
  std::string events_path() const { return folder_ + "/" + kEventsFile; }
  bool Watch(int fd, uint64_t id) const;
  void Accept(size_t port);
  void Close(uint64_t id);
  void CloseStalled();
  // Returns false if the connection must be closed.
  bool ServeConnection(uint64_t id, Connection& connection);
  bool AnswerFrames(uint64_t id, Connection& connection, Bytes input);

  const std::string folder_;
  GuestRegisters& registers_;
  const Elapsed elapsed_;
  const Descriptor poll_;  // an epoll instance: ids below the number of ports are listeners
  std::vector<Port> ports_;
  std::map<uint64_t, Connection> connections_;
  std::set<uint64_t> halves_;  // connections with half a frame
  uint64_t next_id_ = 0;
  bool is_listed_ = false;  // the list of events may exist
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_SERVE_GUEST_PORTS_H_
