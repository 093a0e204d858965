"""Starts the emulator on BIND_HOST and GATEWAY_PORT: `python -m aws_emulator`."""

from ministack import app

from . import cloudwatch, dependencies, dynamodb, ec2, ecs, enforcement, kinesis, rds

for module in (cloudwatch, dynamodb, ec2, ecs, kinesis, rds, dependencies, enforcement):
    module.install()
app.main()
