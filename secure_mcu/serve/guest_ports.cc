// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/serve/guest_ports.h"

#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"
#include "proto/registers/event_list.h"
#include "proto/registers/guest_port.h"
#include "secure_mcu/guest_view/layout.h"

namespace sideband::mcu {
namespace {

// Frames of a connection, and events of all together, that are served before the bus again.
constexpr size_t kFramesPerTurn = 128;
constexpr int kEventsPerTurn = 16;

// The guests together must not leave the bus without descriptors.
absl::Status RaiseFileLimit(const std::string& folder, size_t pages) {
  constexpr rlim_t kOthers = 256;  // the bus, its peers, traces, views
  const rlim_t needed = kOthers + pages * (1 + GuestPorts::kConnectionsMax);
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return ErrnoStatus(errno, folder);
  if (limit.rlim_cur >= needed) return absl::OkStatus();
  if (limit.rlim_max < needed) {
    return absl::ResourceExhaustedError(absl::StrCat(folder, ": guest ports for ", pages, " VMs and contexts need ",
                                                     needed, " open files, the limit is ", limit.rlim_max));
  }
  limit.rlim_cur = needed;
  return setrlimit(RLIMIT_NOFILE, &limit) == 0 ? absl::OkStatus() : ErrnoStatus(errno, folder);
}

absl::Status MakeFolder(const std::string& folder) {
  return mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST ? absl::OkStatus() : ErrnoStatus(errno, folder);
}

std::string EscapedName(absl::string_view name) { return absl::StrReplaceAll(FileNameOf(name), {{".", "%2E"}}); }

}  // namespace

std::string GuestPortFileName(absl::string_view vm, absl::string_view context) {
  return absl::StrCat(EscapedName(vm), context.empty() ? "" : ".", EscapedName(context), ".sock");
}

GuestPorts::GuestPorts(std::string folder, GuestRegisters& registers, Elapsed elapsed)
    : folder_(std::move(folder)),
      registers_(registers),
      elapsed_(std::move(elapsed)),
      poll_(epoll_create1(EPOLL_CLOEXEC)) {}

absl::StatusOr<std::unique_ptr<GuestPorts>> GuestPorts::Listen(const std::string& folder,
                                                               const mailbox::Catalog& catalog,
                                                               GuestRegisters& registers, Elapsed elapsed) {
  std::unique_ptr<GuestPorts> ports(new GuestPorts(folder, registers, std::move(elapsed)));
  SIDEBAND_RETURN_IF_ERROR(ports->Open(catalog));
  return ports;
}

absl::Status GuestPorts::Open(const mailbox::Catalog& catalog) {
  if (!poll_.is_open()) return ErrnoStatus(errno, folder_);
  SIDEBAND_RETURN_IF_ERROR(MakeFolder(folder_));
  SIDEBAND_RETURN_IF_ERROR(RaiseFileLimit(folder_, registers_.pages()));
  for (size_t page = 0; page < registers_.pages(); ++page) {
    const Tenant& tenant = registers_.tenant(page);
    const std::string path = absl::StrCat(folder_, "/", GuestPortFileName(tenant.vm, tenant.context));
    SIDEBAND_ASSIGN_OR_RETURN(auto listener, UnixListener::Listen(path, "guest port", 0600));
    if (!Watch(listener->fd(), next_id_++)) return ErrnoStatus(errno, path);
    ports_.push_back({.page = page, .listener = std::move(listener)});
  }
  // Last: the list of another server that has the folder must not be replaced.
  return WriteEventList(catalog);
}

absl::Status GuestPorts::WriteEventList(const mailbox::Catalog& catalog) {
  std::vector<hpc::ListedEvent> events;
  for (size_t id = 0; id < catalog.events.size(); ++id) {
    if (IsCountedForVms(catalog.events[id])) events.push_back({static_cast<uint16_t>(id), catalog.events[id].name});
  }
  is_listed_ = true;
  std::ofstream file(events_path());
  file << hpc::FormatEventList(events);
  file.close();
  return file ? absl::OkStatus() : ErrnoStatus(errno, events_path());
}

GuestPorts::~GuestPorts() {
  for (const auto& [id, connection] : connections_) registers_.EndThread(id);
  if (is_listed_) unlink(events_path().c_str());
}

bool GuestPorts::Watch(int fd, uint64_t id) const {
  epoll_event wanted{.events = EPOLLIN, .data = {.u64 = id}};
  return epoll_ctl(poll_.get(), EPOLL_CTL_ADD, fd, &wanted) == 0;
}

void GuestPorts::Serve() {
  epoll_event ready[kEventsPerTurn];
  const int count = epoll_wait(poll_.get(), ready, kEventsPerTurn, /*timeout=*/0);
  for (int i = 0; i < count; ++i) {
    const uint64_t id = ready[i].data.u64;
    if (id < ports_.size()) {
      Accept(id);
      continue;
    }
    const auto connection = connections_.find(id);
    if (connection != connections_.end() && !ServeConnection(id, connection->second)) Close(id);
  }
  if (!halves_.empty()) CloseStalled();
}

void GuestPorts::Accept(size_t port) {
  Descriptor socket = ports_[port].listener->Accept();
  if (!socket.is_open() || ports_[port].connections == kConnectionsMax || !Watch(socket.get(), next_id_)) return;
  ++ports_[port].connections;
  connections_.emplace(next_id_++,
                       Connection{.port = port, .socket = std::move(socket), .input = {}, .input_since = {}});
}

void GuestPorts::Close(uint64_t id) {
  const auto connection = connections_.find(id);
  --ports_[connection->second.port].connections;
  connections_.erase(connection);
  halves_.erase(id);
  registers_.EndThread(id);
}

void GuestPorts::CloseStalled() {
  const absl::Duration now = elapsed_();
  const std::set<uint64_t> halves = halves_;
  for (const uint64_t id : halves) {
    if (now - connections_.at(id).input_since > kFrameTimeout) Close(id);
  }
}

bool GuestPorts::ServeConnection(uint64_t id, Connection& connection) {
  uint8_t buffer[kFramesPerTurn * hpc::kFrameBytes];
  const ssize_t size = recv(connection.socket.get(), buffer, sizeof(buffer), MSG_DONTWAIT);
  if (size == 0) return false;
  if (size < 0) return WouldBlock();
  Bytes input = std::exchange(connection.input, {});
  const bool is_new = input.empty();
  input.insert(input.end(), buffer, buffer + size);
  if (is_new || input.size() >= hpc::kFrameBytes) connection.input_since = elapsed_();
  return AnswerFrames(id, connection, std::move(input));
}

bool GuestPorts::AnswerFrames(uint64_t id, Connection& connection, Bytes input) {
  ByteSpan rest = input;
  ByteWriter answers;
  // A frame is not done after one that was not, if both were sent together: a trigger without its bitmap would start
  // another request.
  bool is_done = true;
  for (; rest.size() >= hpc::kFrameBytes; rest = rest.subspan(hpc::kFrameBytes)) {
    const auto access = hpc::DecodeFrame(rest.first(hpc::kFrameBytes));
    if (!access.ok()) return false;
    const auto value = is_done ? registers_.Access(ports_[connection.port].page, id, *access) : std::nullopt;
    is_done = value.has_value();
    hpc::AppendAnswer(value, answers);
  }
  connection.input.assign(rest.begin(), rest.end());
  halves_.erase(id);
  if (!rest.empty()) halves_.insert(id);
  if (answers.size() == 0) return true;
  // A guest that lets its answers pile up until the socket is full does not read them.
  const ssize_t sent =
      send(connection.socket.get(), answers.written().data(), answers.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  return sent == static_cast<ssize_t>(answers.size());
}

}  // namespace sideband::mcu
