"""A real Apache Kafka broker on loopback, one node in KRaft mode, that tests may stop, kill and start again."""

import argparse
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from random import SystemRandom

HERE = Path(__file__).resolve().parent
CACHE = HERE.parents[1] / ".cache" / "kafka"
JARS = CACHE / "libs"
HOST = "127.0.0.1"
USER, PASSWORD = "mesh", "mesh-secret"
PORTS = range(20_000, 32_000)
"""Below the ports that clients get: one that reconnects to a killed broker neither takes its port nor meets itself."""

SETTINGS = """\
process.roles=broker,controller
node.id=1
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,\
SASL_PLAINTEXT:SASL_PLAINTEXT,SSL:SSL,SASL_SSL:SASL_SSL
auto.create.topics.enable=false
message.max.bytes=4194304
replica.fetch.max.bytes=4194304
offsets.topic.replication.factor=1
offsets.topic.num.partitions=8
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=8
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=1000
broker.session.timeout.ms=3000
broker.heartbeat.interval.ms=500
log.cleaner.backoff.ms=1000
log.cleaner.dedupe.buffer.size=16777216
"""
"""A killed broker may come back only after `broker.session.timeout.ms`; the default of 9 s would slow the tests."""

SECURE_SETTINGS = """\
sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512
ssl.keystore.type=PEM
ssl.keystore.location={folder}/server.pem
ssl.truststore.type=PEM
ssl.truststore.location={folder}/ca.pem
"""
LOGIN_MODULES = {
    "plain": f'plain.PlainLoginModule required user_{USER}="{PASSWORD}"',
    "scram-sha-256": "scram.ScramLoginModule required",
    "scram-sha-512": "scram.ScramLoginModule required",
}


class BrokerFailed(Exception):
    """The broker ended or was not up in time; the message ends with its last log lines."""


def missing() -> str:
    """What this machine lacks to start a broker, in words; nothing when it lacks nothing."""
    if shutil.which("java") is None:
        return "Kafka needs Java 17 or newer, and there is no java on the path"
    told = subprocess.run(["java", "-version"], capture_output=True, text=True, check=False).stderr
    version = re.search(r'version "(\d+)', told)
    if version is None or int(version[1]) < 17:
        return f"Kafka needs Java 17 or newer, and this is {told.splitlines()[0] if told else 'another'}"
    return "" if any(JARS.glob("kafka_*.jar")) else "Kafka's jars are not there yet: run make kafka-jars"


class Broker:
    """One broker; its folder and its ports stay the same over stop, kill and start."""

    def __init__(
        self,
        folder: Path,
        *,
        port: int = 0,
        secure: bool = False,
        lasting: bool = False,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        """A free port unless told; `secure` adds listeners with TLS and logins; `settings` are Kafka's own and win.

        `lasting` is for one that works for longer than a test: its code is compiled as well as Java can.
        """
        self._lasting = lasting
        self.folder = folder
        self.log = folder / "broker.log"
        self._secure = secure
        self._settings = dict(settings or {})
        names = ("CONTROLLER", "PLAINTEXT", *(("SASL_PLAINTEXT", "SSL", "SASL_SSL") if secure else ()))
        self._ports = dict(zip(names, _free_ports(len(names)), strict=True))
        if port:
            self._ports["PLAINTEXT"] = port
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def bootstrap(self) -> str:
        """Where clients come in without TLS and login, as host:port."""
        return self.address("PLAINTEXT")

    @property
    def certificate(self) -> Path:
        """What the clients of a secure broker have to trust."""
        return self.folder / "ca.pem"

    def address(self, protocol: str) -> str:
        """Where a listener is, as host:port, by protocol: PLAINTEXT, SASL_PLAINTEXT, SSL or SASL_SSL."""
        return f"{HOST}:{self._ports[protocol]}"

    def start(self, within: float = 90) -> None:
        """Start, and return when it serves; the storage is formatted the first time."""
        command = self.prepare()
        with self.log.open("ab") as log:
            before = log.tell()
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        deadline = time.monotonic() + within
        while b"Kafka Server started" not in self._told_since(before):
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.kill()
                last = self._told_since(before).decode(errors="replace").splitlines()[-20:]
                raise BrokerFailed("\n".join([f"the broker did not start, see {self.log}:", *last]))
            time.sleep(0.1)

    def stop(self, within: float = 30) -> None:
        """End it by SIGTERM, as an operator would; one that does not run is left alone."""
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(within)
            except subprocess.TimeoutExpired:
                self.kill()
        self._process = None

    def kill(self) -> None:
        """End it by SIGKILL, with no chance to flush or to say goodbye; one that does not run is left alone."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._process = None

    def prepare(self, log_level: str = "info") -> list[str]:
        """Write the settings, format the storage if it is new, and return the command that starts the broker."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if self._secure and not self.certificate.exists():
            self._make_certificate()
        settings = self.folder / "server.properties"
        settings.write_text(self._properties(), encoding="utf-8")
        if not (self.folder / "data" / "meta.properties").exists():
            self._format(settings)
        return [*_java(log_level, self._lasting), "kafka.Kafka", str(settings)]

    def _told_since(self, position: int) -> bytes:
        with self.log.open("rb") as log:
            log.seek(position)
            return log.read()

    def _format(self, settings: Path) -> None:
        command = [*_java("warn"), "kafka.tools.StorageTool", "format", "--config", str(settings)]
        command += ["--cluster-id", "YmVsaWVmbWVzaC10ZXN0cw"]
        if self._secure:
            for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512"):
                command += ["--add-scram", f"{mechanism}=[name={USER},password={PASSWORD}]"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=90, check=False)
        if done.returncode:
            raise BrokerFailed(f"the storage could not be formatted:\n{done.stdout}{done.stderr}")

    def _properties(self) -> str:
        listeners = [f"{name}://{HOST}:{port}" for name, port in self._ports.items()]
        lines = [
            f"controller.quorum.voters=1@{HOST}:{self._ports['CONTROLLER']}",
            f"listeners={','.join(listeners)}",
            f"advertised.listeners={','.join(listeners[1:])}",
            f"log.dirs={self.folder / 'data'}",
        ]
        if self._secure:
            lines.append(SECURE_SETTINGS.format(folder=self.folder))
            lines += [
                f"listener.name.{listener}.{mechanism}.sasl.jaas.config=org.apache.kafka.common.security.{module};"
                for listener in ("sasl_plaintext", "sasl_ssl")
                for mechanism, module in LOGIN_MODULES.items()
            ]
        lines += [f"{key}={value}" for key, value in self._settings.items()]
        return SETTINGS + "\n".join(lines) + "\n"

    def _make_certificate(self) -> None:
        """One that signs itself, for 127.0.0.1, good for two days."""
        key = self.folder / "server.key"
        command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
        command += ["-addext", f"subjectAltName=DNS:localhost,IP:{HOST}", "-keyout", str(key)]
        subprocess.run([*command, "-out", str(self.certificate)], capture_output=True, check=True)
        (self.folder / "server.pem").write_bytes(key.read_bytes() + self.certificate.read_bytes())


def _java(log_level: str, lasting: bool = False) -> list[str]:
    logging = [f"-Dlog4j2.configurationFile={HERE / 'log4j2.xml'}", f"-Dbroker.log.level={log_level}"]
    machine = ["-Xms128m", "-Xmx512m", "-XX:+UseSerialGC"]
    if not lasting:
        # Only the quick one of Java's two compilers: it saves two fifths of the processor time of a start.
        machine.append("-XX:TieredStopAtLevel=1")
    return ["java", *machine, *logging, "-cp", f"{JARS}/*"]


def _free_ports(count: int) -> list[int]:
    """Ports of which nobody listens on any."""
    found: list[int] = []
    for port in SystemRandom().sample(PORTS, len(PORTS)):
        with socket.socket() as probe:
            if probe.connect_ex((HOST, port)):
                found.append(port)
        if len(found) == count:
            break
    return found


def during(command: list[str]) -> int:
    """Run a command while a broker runs, with `{kafka}` in it replaced by where that is; returns the exit code.

    Without what a broker needs the command runs all the same, and `{kafka}` is empty.
    """
    with tempfile.TemporaryDirectory(prefix="kafka-") as folder:
        broker = Broker(Path(folder) / "broker", lasting=True)
        lack = missing()
        if lack:
            print(lack, file=sys.stderr)
        else:
            broker.start()
        try:
            told = [part.replace("{kafka}", "" if lack else broker.bootstrap) for part in command]
            return subprocess.run(told, check=False).returncode
        finally:
            broker.stop()


def main() -> None:
    """Become a broker that runs until Ctrl-C and keeps its records for the next time."""
    if sys.argv[1:2] == ["--during"]:
        sys.exit(during(sys.argv[2:]))
    parser = argparse.ArgumentParser(
        description=main.__doc__, epilog="--during COMMAND runs a command while a broker runs, at {kafka}"
    )
    parser.add_argument("--port", type=int, default=9092, help="where it listens on 127.0.0.1 (9092)")
    parser.add_argument("--folder", type=Path, default=CACHE / "broker", help="where it keeps its records")
    given = parser.parse_args()
    if lack := missing():
        sys.exit(lack)
    command = Broker(given.folder, port=given.port, lasting=True).prepare(log_level="warn")
    print(f"Kafka listens on {HOST}:{given.port} and keeps its records in {given.folder}; Ctrl-C ends it", flush=True)
    os.execvp(command[0], command)


if __name__ == "__main__":
    main()
