"""Kinesis: a stream keeps the encryption that its template says, which ministack drops."""

from ministack.services import kinesis

from .provisioning import Properties, after, json_of


def install() -> None:
    """Starts the encryption after each create and update."""
    after("AWS::Kinesis::Stream", _encrypt)


def _encrypt(name: str, properties: Properties, _: dict[str, str]) -> None:
    encryption = properties.get("StreamEncryption")
    if encryption:
        json_of(kinesis._start_stream_encryption({"StreamName": name} | encryption), "StartStreamEncryption")
