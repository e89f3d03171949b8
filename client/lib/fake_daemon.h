// SPDX-License-Identifier: Apache-2.0
//
// An in-process gRPC server with the daemon's services and scripted responses, and throw-away certificates for it, for
// tests over real TLS.
//   FakeDaemon daemon({.devices = devices});
//   TelemetryClient client(daemon.Channel(), {}, cancellation);
//   const TestCertificates certificates = TestCertificates::WriteTo(testing::TempDir());
#ifndef SIDEBAND_CLIENT_LIB_FAKE_DAEMON_H_
#define SIDEBAND_CLIENT_LIB_FAKE_DAEMON_H_

#include <grpcpp/channel.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/support/status.h>

#include <memory>
#include <string>
#include <vector>

#include "sideband/v1/telemetry.pb.h"

namespace sideband::client {

// Thread-safe. Listens on a free port of the loopback.
class FakeDaemon {
 public:
  struct Script {
    v1::ListDevicesResponse devices;
    v1::ListEventsResponse events;
    v1::ListScopesResponse scopes;
    v1::GetSnapshotResponse snapshots;
    v1::GetHistoryResponse history;
    v1::PeekResponse peek;
    std::vector<v1::SubscribeResponse> updates;
    // The updates of the first, the second, … stream, each of which ends after them. Later streams have `updates`.
    std::vector<std::vector<v1::SubscribeResponse>> cut_streams;
    std::vector<v1::SealedRecord> records;
    // Whether streams stay open after their last message, until the client cancels.
    bool keeps_streams = false;
    // The answer of the health service.
    bool serving = true;
    // The status of all calls.
    grpc::Status status;
    // The status of GetSnapshot and of Peek if `status` is OK.
    grpc::Status get_snapshot_status;
    grpc::Status peek_status;
    // That of Mark and GetSpan.
    grpc::Status marks_status = grpc::Status(grpc::StatusCode::UNIMPLEMENTED, "");
  };
  // The newest request of each kind, in text format.
  struct Requests {
    std::string get_snapshot;
    std::string get_history;
    std::string peek;
    std::string subscribe;
    std::string subscribe_sealed;
    std::string authorization;  // the field of the newest ListDevices
  };

  explicit FakeDaemon(Script script,
                      std::shared_ptr<grpc::ServerCredentials> credentials = grpc::InsecureServerCredentials());
  ~FakeDaemon();

  // 127.0.0.1:PORT.
  std::string address() const;
  // Without TLS.
  std::shared_ptr<grpc::Channel> Channel() const;
  Requests requests() const;

 private:
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};

// Paths of PEM files in one folder.
struct TestCertificates {
  std::string ca_file;
  std::string server_cert_file;
  std::string server_key_file;
  // Identity: spiffe://test/client.
  std::string client_cert_file;
  std::string client_key_file;

  // Creates new keys and files; the server's certificate is for `server_names`. Aborts the test program on failure.
  static TestCertificates WriteTo(const std::string& folder,
                                  const std::string& server_names = "DNS:localhost,IP:127.0.0.1");
  // TLS without client certificates.
  std::shared_ptr<grpc::ServerCredentials> ServerOnlyTls() const;
  // TLS that requires from each client a certificate of the CA.
  std::shared_ptr<grpc::ServerCredentials> MutualTls() const;
};

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_LIB_FAKE_DAEMON_H_
