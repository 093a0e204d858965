"""How handlers of CloudFormation types are added to ministack, and changed."""

import json
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

from ministack.services.cloudformation import provisioners

Properties = dict[str, Any]
"""What a template says, with references resolved."""

Created = tuple[str, dict[str, str]]
"""Physical id, and what Fn::GetAtt answers."""

Response = tuple[int, dict[str, str], bytes | str]
"""What a service of ministack answers to a request: status, headers, body."""

Create = Callable[[str, Properties, str], Created]
"""From logical id, properties and name of the stack."""

Delete = Callable[[str, Properties], object]
"""From physical id and properties."""


class ProvisioningError(ValueError):
    """Makes the stack operation fail with this message."""


def succeeded(response: Response, action: str) -> bytes:
    """The body of an answer; an error of the service becomes the stack's."""
    status, _, body = response
    raw = body if isinstance(body, bytes) else body.encode()
    if status >= 400:
        # On one line, as the events of a stack are.
        raise ProvisioningError(f"{action}: {' '.join(raw.decode().split())}")
    return raw


def json_of(response: Response, action: str) -> dict[str, Any]:
    """A JSON answer as an object."""
    return json.loads(succeeded(response, action) or b"{}")


def text_of(response: Response, action: str, tag: str) -> str:
    """The text of the first such element of an XML answer."""
    for element in ElementTree.fromstring(succeeded(response, action)).iter():
        if element.tag.rsplit("}", 1)[-1] == tag and element.text:
            return element.text
    raise ProvisioningError(f"{action}: no {tag} in the answer")


def only(properties: Properties, resource_type: str, known: set[str]) -> None:
    """Refuses properties that a handler would ignore."""
    unknown = sorted(set(properties) - known)
    if unknown:
        raise ProvisioningError(f"{resource_type}: the emulator does not know {', '.join(unknown)}")


def add(resource_type: str, create: Create, delete: Delete) -> None:
    """Adds a type whose every change makes a new resource, as AWS does for the properties used here."""
    if resource_type in provisioners._RESOURCE_HANDLERS:
        raise RuntimeError(f"ministack knows {resource_type} by now: drop the handler")

    def update(physical_id: str, old: Properties, new: Properties, stack: str, logical_id: str) -> Created:
        created = create(logical_id, new, stack)
        if created[0] != physical_id:
            provisioners._delete_predecessor(delete, physical_id, old)
        return created

    provisioners._RESOURCE_HANDLERS[resource_type] = {
        "create": create,
        "update": update,
        "update_with_logical_id": True,
        "delete": delete,
    }


def after(resource_type: str, keep: Callable[[str, Properties, dict[str, str]], None]) -> None:
    """Lets `keep(physical_id, properties, attributes)` run after each create and update of a type ministack has."""
    handler = dict(provisioners._RESOURCE_HANDLERS[resource_type])
    create, update = handler["create"], handler["update"]

    def create_and_keep(logical_id: str, properties: Properties, stack: str) -> Created:
        physical_id, attributes = create(logical_id, properties, stack)
        keep(physical_id, properties, attributes)
        return physical_id, attributes

    def update_and_keep(physical_id: str, old: Properties, new: Properties, *rest: Any) -> Created:
        updated_id, attributes = update(physical_id, old, new, *rest)
        keep(updated_id, new, attributes)
        return updated_id, attributes

    provisioners._RESOURCE_HANDLERS[resource_type] = handler | {
        "create": create_and_keep,
        "update": update_and_keep,
    }


def ec2_tags(properties: Properties, resource_type: str) -> dict[str, list[str]]:
    """A template's tags as request parameters of the EC2 API."""
    parameters: dict[str, list[str]] = {}
    for number, tag in enumerate(properties.get("Tags", []), start=1):
        parameters["TagSpecification.1.ResourceType"] = [resource_type]
        parameters[f"TagSpecification.1.Tag.{number}.Key"] = [tag["Key"]]
        parameters[f"TagSpecification.1.Tag.{number}.Value"] = [tag["Value"]]
    return parameters
