import * as pulumi from '@pulumi/pulumi';
import { wrongSetting } from '../../../runtime/contract/setting-values';
import { refuseWrongArgs, shown, type WrongArg } from '../shared/wrong-args';
import type { Settings } from './consumer-environment';

/** Settings of the user's own. One that is a secret of the stack is refused: in the app it would stand in clear. */
export function ownSettings(component: string, name: string, environment: Settings): Settings {
  const checked = Object.entries(environment).map(([setting, value]) => {
    if (!pulumi.Output.isInstance(value)) return [setting, value] as const;
    const plain = pulumi.output(pulumi.isSecret(pulumi.output(value))).apply((secret) => {
      const wayOut = 'Whoever may read the container app could read it: give a plain value, or leave it out.';
      const wrong = {
        prop: `environment.${setting}`,
        received: 'a secret',
        allowed: 'a value that may be seen',
        wayOut,
      };
      refuseWrongArgs(component, name, [secret ? wrong : undefined]);
      return value;
    });
    const judged = plain.apply((text) => {
      refuseWrongArgs(component, name, [wrongValue(setting, text)]);
      return text;
    });
    return [setting, judged] as const;
  });
  return Object.fromEntries(checked);
}

/** What the worker would refuse of a text at its start. */
export function wrongValue(setting: string, value: string): WrongArg | undefined {
  const fault = wrongSetting(setting, value);
  return fault && { prop: `environment.${setting}`, received: shown(value), ...fault };
}
