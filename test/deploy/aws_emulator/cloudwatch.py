"""CloudWatch: composite alarms, which ministack has no type for, and dimensions, which its alarms overlook."""

from typing import Any

from ministack.services import cloudwatch
from ministack.services.cloudformation import provisioners

from .provisioning import Created, Properties, add, json_of, only

COMPOSITE = "AWS::CloudWatch::CompositeAlarm"
COMPOSITE_PROPERTIES = {
    "AlarmName",
    "AlarmRule",
    "AlarmDescription",
    "ActionsEnabled",
    "AlarmActions",
    "OKActions",
    "InsufficientDataActions",
    "Tags",
}


def install() -> None:
    """Adds composite alarms, and lets alarms look at the metric they name."""
    add(COMPOSITE, _create_composite, lambda name, _: cloudwatch._composite_alarms.pop(name, None))
    cloudwatch._evaluate_alarm = _by_dimensions(cloudwatch._evaluate_alarm)


def _create_composite(logical_id: str, properties: Properties, stack: str) -> Created:
    only(properties, COMPOSITE, COMPOSITE_PROPERTIES)
    name = properties.get("AlarmName") or provisioners._physical_name(stack, logical_id, max_len=255)
    # The service checks the rule's grammar and that the alarms it names exist.
    json_of(cloudwatch._put_composite_alarm({}, properties | {"AlarmName": name}, False, True), "PutCompositeAlarm")
    return name, {"Arn": cloudwatch._composite_alarms[name]["AlarmArn"]}


def _by_dimensions(evaluate: Any) -> Any:
    """An alarm looks at the metric with exactly its dimensions; ministack looks at all metrics of that name."""

    def evaluate_by_dimensions(alarm: dict[str, Any]) -> None:
        everything = cloudwatch._metrics
        wanted = cloudwatch._dims_key(cloudwatch._dims_from_list(alarm.get("Dimensions") or []))
        cloudwatch._metrics = {key: points for key, points in everything.items() if key[2] == wanted}
        try:
            evaluate(alarm)
        finally:
            cloudwatch._metrics = everything

    return evaluate_by_dimensions
