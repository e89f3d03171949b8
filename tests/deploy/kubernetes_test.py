#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""The manifests of deploy/kubernetes: Kubernetes' own field names and types, the restricted pod security standard, and
agreement with the image and with the daemon's configuration, which the daemon accepts."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import types
import unittest

import yaml

try:
    from kubernetes import client
except ImportError:
    client = None

_RUNFILES = os.path.join(os.environ.get("TEST_SRCDIR", ""), os.environ.get("TEST_WORKSPACE", ""))
_FOLDER = os.path.join(_RUNFILES, "deploy/kubernetes")
sys.path.insert(0, os.path.join(_RUNFILES, "deploy/image"))
import finish_tree  # noqa: E402
import oci  # noqa: E402

_PATIENCE_S = 60
_MODELS = {"ConfigMap": "V1ConfigMap", "DaemonSet": "V1DaemonSet", "Namespace": "V1Namespace",
           "NetworkPolicy": "V1NetworkPolicy", "Service": "V1Service"}
# The fields of monitoring.coreos.com/v1 that the ServiceMonitor may use: {field: type, or the fields below it}
_SECRET_KEY = {"name": str, "key": str}
_RELABELING = {"sourceLabels": list, "regex": str, "targetLabel": str, "action": str}
_ENDPOINT = {"port": str, "scheme": str, "path": str, "interval": str, "relabelings": [_RELABELING],
             "metricRelabelings": [_RELABELING],
             "tlsConfig": {"ca": {"secret": _SECRET_KEY}, "cert": {"secret": _SECRET_KEY}, "keySecret": _SECRET_KEY,
                           "serverName": str}}
_SERVICE_MONITOR = {"apiVersion": str, "kind": str, "metadata": {"name": str, "labels": dict},
                    "spec": {"selector": {"matchLabels": dict}, "endpoints": [_ENDPOINT]}}


def read(path):
    with open(os.path.join(_FOLDER, path), encoding="utf-8") as file:
        return file.read()


def load(path):
    return yaml.safe_load(read(path))


def kubectl(*arguments):
    return subprocess.run(["kubectl", *arguments], check=True, capture_output=True, text=True, timeout=_PATIENCE_S).stdout


def kubectl_minor_version():
    try:
        version = json.loads(kubectl("version", "--client", "--output=json"))["clientVersion"]
    except (OSError, subprocess.CalledProcessError):
        return 0
    return int(re.match(r"\d+", version["minor"])[0])


def unknown_fields(value, known, path=""):
    """Paths of fields that are not in `known`, or have another type."""
    if isinstance(known, dict) and isinstance(value, dict):
        return [wrong for key, inner in value.items()
                for wrong in (unknown_fields(inner, known[key], path + "." + key) if key in known else [path + "." + key])]
    if isinstance(known, list) and isinstance(value, list):
        return [wrong for inner in value for wrong in unknown_fields(inner, known[0], path + "[]")]
    return [] if isinstance(known, type) and isinstance(value, known) else [path]


def as_kubernetes_reads(manifest):
    """What remains of a manifest that has gone through Kubernetes' types: unknown fields are lost, a missing required
    one is a ValueError."""
    api = client.ApiClient()
    response = types.SimpleNamespace(data=json.dumps(manifest))
    return api.sanitize_for_serialization(api.deserialize(response, _MODELS[manifest["kind"]]))


class ManifestTest(unittest.TestCase):
    def setUp(self):
        self.daemon_set = load("base/daemonset.yaml")
        self.pod = self.daemon_set["spec"]["template"]
        self.container = self.pod["spec"]["containers"][0]
        self.config = load("base/sidebandd.yaml")

    @unittest.skipUnless(client, "python3-kubernetes is not installed")
    def test_fields_are_those_of_kubernetes(self):
        for name in load("base/kustomization.yaml")["resources"]:
            self.assertEqual(as_kubernetes_reads(load("base/" + name)), load("base/" + name), name)

    @unittest.skipUnless(client, "python3-kubernetes is not installed")
    def test_wrong_fields_are_noticed(self):
        self.pod["spec"]["automountServiceAccountTokens"] = False
        self.assertNotEqual(as_kubernetes_reads(self.daemon_set), self.daemon_set)
        del self.daemon_set["spec"]["selector"]
        self.assertRaises(ValueError, as_kubernetes_reads, self.daemon_set)

    def test_fields_of_the_service_monitor(self):
        monitor = load("monitoring/servicemonitor.yaml")
        self.assertEqual(unknown_fields(monitor, _SERVICE_MONITOR), [])
        monitor["spec"]["endpoints"][0]["tlsConfig"]["certSecret"] = {}
        monitor["spec"]["endpoints"][0]["port"] = 9877
        self.assertEqual(set(unknown_fields(monitor, _SERVICE_MONITOR)),
                         {".spec.endpoints[].tlsConfig.certSecret", ".spec.endpoints[].port"})

    def test_every_file_is_part_of_its_kustomization(self):
        for folder in ("base", "monitoring", "privileged"):
            kustomization = load(folder + "/kustomization.yaml")
            named = set(kustomization.get("resources", [])) | {one["path"] for one in kustomization.get("patches", [])}
            for generator in kustomization.get("configMapGenerator", []):
                named.update(generator["files"])
            self.assertEqual(named | {"kustomization.yaml"}, set(os.listdir(os.path.join(_FOLDER, folder))), folder)

    def test_patches_name_what_there_is(self):
        for path in ("daemonset.yaml", "namespace.yaml"):
            patch, base = load("privileged/" + path), load("base/" + path)
            for key in ("apiVersion", "kind"):
                self.assertEqual(patch[key], base[key])
            self.assertEqual(patch["metadata"]["name"], base["metadata"]["name"])
        patched = load("privileged/daemonset.yaml")["spec"]["template"]["spec"]["containers"][0]
        self.assertEqual(patched["name"], self.container["name"])
        removed = [name for name, value in patched["resources"]["limits"].items() if value is None]
        self.assertLessEqual(set(removed), set(self.container["resources"]["limits"]))

    def test_the_pod_is_restricted(self):
        """The rules of the pod security standard `restricted`, which the namespace enforces."""
        self.assertEqual(load("base/namespace.yaml")["metadata"]["labels"]["pod-security.kubernetes.io/enforce"], "restricted")
        spec, pod, container = self.pod["spec"], self.pod["spec"]["securityContext"], self.container["securityContext"]
        for forbidden in ("hostNetwork", "hostPID", "hostIPC"):
            self.assertNotIn(forbidden, spec)
        self.assertTrue(pod["runAsNonRoot"])
        self.assertEqual(pod["seccompProfile"], {"type": "RuntimeDefault"})
        self.assertEqual(container, {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
                                     "capabilities": {"drop": ["ALL"]}})
        self.assertLessEqual({kind for one in spec["volumes"] for kind in one} - {"name"}, {"projected", "emptyDir"})

    def test_the_user_is_that_of_the_image(self):
        pod = self.pod["spec"]["securityContext"]
        self.assertEqual([pod[name] for name in ("runAsUser", "runAsGroup", "fsGroup")], [finish_tree.USER] * 3)

    def test_ports_are_those_of_the_configuration_and_the_image(self):
        ports = {one["name"]: one["containerPort"] for one in self.container["ports"]}
        listening = {"https": self.config["http"]["listen"], "grpc": self.config["grpc"]["listen"]}
        self.assertEqual({name: "0.0.0.0:%d" % port for name, port in ports.items()}, listening)
        self.assertEqual({"%d/tcp" % port for port in ports.values()}, set(oci.PORTS))
        for one in load("base/service.yaml")["spec"]["ports"]:
            self.assertEqual((one["targetPort"], one["port"]), (one["name"], ports[one["name"]]))
        allowed = [port["port"] for rule in load("base/networkpolicy.yaml")["spec"]["ingress"] for port in rule["ports"]]
        self.assertEqual(set(allowed), set(ports))
        self.assertIn(load("monitoring/servicemonitor.yaml")["spec"]["endpoints"][0]["port"], ports)

    def test_selectors_select_the_pods(self):
        labels = self.pod["metadata"]["labels"]
        service = load("base/service.yaml")
        for selector in (self.daemon_set["spec"]["selector"]["matchLabels"], service["spec"]["selector"],
                         load("base/networkpolicy.yaml")["spec"]["podSelector"]["matchLabels"]):
            self.assertLessEqual(selector.items(), labels.items())
        monitor = load("monitoring/servicemonitor.yaml")["spec"]
        self.assertLessEqual(monitor["selector"]["matchLabels"].items(), service["metadata"]["labels"].items())
        self.assertTrue(service["metadata"]["name"].startswith("sideband"), "the job of the alerts")
        namespace = load("base/namespace.yaml")["metadata"]["name"]
        self.assertEqual(monitor["endpoints"][0]["tlsConfig"]["serverName"],
                         "%s.%s.svc" % (service["metadata"]["name"], namespace))
        self.assertEqual(load("base/kustomization.yaml")["namespace"], namespace)

    def test_every_folder_that_the_daemon_writes_is_a_volume(self):
        mounts = {one["mountPath"]: one["name"] for one in self.container["volumeMounts"]}
        self.assertEqual(set(mounts) - {"/etc/sideband"}, set(oci.VOLUMES))
        self.assertEqual(set(mounts.values()), {one["name"] for one in self.pod["spec"]["volumes"]})
        written = [self.config["state_dir"], os.path.dirname(self.config["audit"]["file"]),
                   *(os.path.dirname(self.config[name]["unix_socket"]) for name in ("http", "grpc"))]
        self.assertLessEqual(set(written), set(mounts))

    def test_probes_ask_the_socket_of_the_configuration(self):
        for name in ("startupProbe", "livenessProbe", "readinessProbe"):
            probe = self.container[name]
            program, _, address, command, *_ = probe["exec"]["command"]
            self.assertEqual((program, command), ("/usr/bin/sideband", "health"))
            self.assertEqual(address, "unix:" + self.config["grpc"]["unix_socket"])
            self.assertLessEqual(probe["periodSeconds"] * probe.get("failureThreshold", 3), 60, name)

    def projected(self):
        """{path below /etc/sideband: key} of the Secret, and the files of the ConfigMap."""
        sources = next(one for one in self.pod["spec"]["volumes"] if one["name"] == "config")["projected"]
        self.assertEqual(sources["defaultMode"] & 0o007, 0, "a key that others can read is refused")
        config_map, secret = (source[kind] for source, kind in zip(sources["sources"], ("configMap", "secret")))
        generator, = load("base/kustomization.yaml")["configMapGenerator"]
        self.assertEqual(config_map["name"], generator["name"])
        return {item["path"]: item["key"] for item in secret["items"]}, generator["files"]

    def test_the_daemon_accepts_the_configuration(self):
        folder = tempfile.mkdtemp(prefix="sb-")
        self.addCleanup(shutil.rmtree, folder)
        secret, files = self.projected()
        for name in files:
            # The folders of a container, here below a temporary one.
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(re.sub(r"(?<=[ :])/(run|var)/", folder + r"/\1/", read("base/" + name)))
        for place in ("tls", "run/sideband", "var/log/sideband", "var/lib/sideband"):
            os.makedirs(os.path.join(folder, place))
        subprocess.run(["/usr/bin/openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                        "-subj", "/CN=any", "-addext", "subjectAltName=DNS:any", "-keyout", "tls/tls.key", "-out", "tls/tls.crt"], cwd=folder, check=True,
                       capture_output=True, timeout=_PATIENCE_S)
        shutil.copy(os.path.join(folder, "tls/tls.crt"), os.path.join(folder, "tls/ca.crt"))
        self.assertEqual(sorted(secret), sorted("tls/" + name for name in os.listdir(os.path.join(folder, "tls"))))
        done = subprocess.run([os.path.join(_RUNFILES, "daemon/sidebandd"), "--config", os.path.join(folder, "sidebandd.yaml"),
                               "--check"], capture_output=True, text=True, timeout=_PATIENCE_S, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    @unittest.skipUnless(kubectl_minor_version() >= 21, "no kubectl whose kustomize has components")
    def test_the_page_leads_to_manifests(self):
        folder = tempfile.mkdtemp(prefix="sb-")
        self.addCleanup(shutil.rmtree, folder)
        shutil.copytree(_FOLDER, os.path.join(folder, "deploy/kubernetes"))
        os.mkdir(os.path.join(folder, "site"))
        for name in ("sidebandd.yaml", "policy.yaml"):
            shutil.copy(os.path.join(_FOLDER, "base", name), os.path.join(folder, "site"))
        page = textwrap.dedent(re.search(r"```yaml\n(.*?)\n *```", read("README.md"), re.DOTALL)[1])
        for components in ("", ", ../deploy/kubernetes/privileged"):
            text = (page.replace("SIDEBAND", "..").replace("GROUP", "997").replace("RELEASE", "stack")
                    .replace("monitoring]", "monitoring%s]" % components))
            with open(os.path.join(folder, "site/kustomization.yaml"), "w", encoding="utf-8") as file:
                file.write(text)
            self.check_rendered(list(yaml.safe_load_all(kubectl("kustomize", os.path.join(folder, "site")))), bool(components))

    def check_rendered(self, manifests, privileged):
        by_kind = {one["kind"]: one for one in manifests}
        self.assertEqual(set(by_kind), {*_MODELS, "ServiceMonitor"})
        self.assertEqual(by_kind["ServiceMonitor"]["metadata"]["labels"]["release"], "stack")
        spec = by_kind["DaemonSet"]["spec"]["template"]["spec"]
        container, = spec["containers"]
        self.assertEqual(container["image"], "REGISTRY/sideband:VERSION")
        self.assertEqual(spec["securityContext"]["supplementalGroups"], [997])
        self.assertEqual(spec["volumes"][0 if not privileged else 1]["name"], "config")
        self.assertIn(by_kind["ConfigMap"]["metadata"]["name"], json.dumps(spec["volumes"]))
        self.assertEqual("squat.ai/i2c" in container["resources"]["limits"], not privileged)
        self.assertEqual(container["securityContext"].get("privileged", False), privileged)
        self.assertEqual(sum("hostPath" in one for one in spec["volumes"]), int(privileged))
        if client:
            del by_kind["ServiceMonitor"]
            for one in by_kind.values():
                self.assertEqual(as_kubernetes_reads(one), one, one["kind"])

    def test_the_policy_has_the_identity_of_the_page(self):
        identities = [one for operator in load("base/policy.yaml")["operators"] for one in operator["identities"]]
        for identity in identities:
            self.assertIn(identity, read("README.md"))


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
