"""Starts the emulator on BIND_HOST and GATEWAY_PORT: `python -m aws_emulator`."""

from ministack import app

from . import application_autoscaling, cloudwatch, dependencies, dynamodb, ec2, ecs, enforcement, kinesis, rds

parts = (application_autoscaling, cloudwatch, dynamodb, ec2, ecs, kinesis, rds, dependencies, enforcement)
for module in parts:
    module.install()
app.main()
