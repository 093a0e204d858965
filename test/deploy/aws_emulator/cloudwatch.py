"""CloudWatch: composite alarms, which ministack has no type for; alarms on a metric expression, which it refuses; and
alarms that look at their dimensions, which it overlooks."""

from typing import Any

from ministack.services import cloudwatch
from ministack.services.cloudformation import provisioners

from .provisioning import Created, ProvisioningError, Properties, add, json_of, only

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
METRIC_FIELDS = ("MetricName", "Namespace", "Statistic", "ExtendedStatistic", "Period")


def install() -> None:
    """Adds composite alarms and lets alarms have `Metrics`."""
    add(COMPOSITE, _create_composite, lambda name, _: cloudwatch._composite_alarms.pop(name, None))
    provisioners._cw_metric_alarm_record = _alarm_record(provisioners._cw_metric_alarm_record)
    cloudwatch._evaluate_alarm = _by_dimensions(cloudwatch._evaluate_alarm)


def _create_composite(logical_id: str, properties: Properties, stack: str) -> Created:
    only(properties, COMPOSITE, COMPOSITE_PROPERTIES)
    name = properties.get("AlarmName") or provisioners._physical_name(stack, logical_id, max_len=255)
    # The service checks the rule's grammar and that the alarms it names exist.
    json_of(cloudwatch._put_composite_alarm({}, properties | {"AlarmName": name}, False, True), "PutCompositeAlarm")
    return name, {"Arn": cloudwatch._composite_alarms[name]["AlarmArn"]}


def _alarm_record(record_of_metric: Any) -> Any:
    """An alarm on `Metrics` keeps them; everything else of it is as for an alarm on one metric."""

    def record(name: str, properties: Properties) -> dict[str, Any]:
        metrics = properties.get("Metrics")
        if not metrics:
            return record_of_metric(name, properties)
        returned = [metric["Id"] for metric in metrics if metric.get("ReturnData", True)]
        if len(returned) != 1:
            raise ProvisioningError(f"alarm {name}: exactly one metric must return data, not {returned}")
        rest = {key: value for key, value in properties.items() if key != "Metrics"}
        alarm = record_of_metric(name, rest | {"MetricName": "expression", "Namespace": "expression"})
        for field in METRIC_FIELDS:
            alarm.pop(field, None)
        return alarm | {"Metrics": metrics}

    return record


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
