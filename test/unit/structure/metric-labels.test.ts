/** A value of a label that nobody counts would be a metric that stays 0 for ever. */
import { describe, expect, it } from 'vitest';
import { METRICS, METRICS_BY_LABEL } from '../../../runtime/contract';
import { readSources } from './sources';

const runtime = [...readSources()].filter(([path]) => /^runtime\/(?!contract\/|ledger\/generated\/)/.test(path));

/** Whether the runtime spells the value; `busy_rate` is made of `busy_` and the reason. */
const spelled = (value: string) => runtime.some(([, text]) => text.includes(`'${value.replace(/^busy_/, '')}'`));

describe.each(Object.entries(METRICS_BY_LABEL))('%s', (_, { of, label, value }) => {
  it('is of a label that the metric has, with a value that the runtime counts', () => {
    expect(METRICS[of].labels).toContain(label);
    expect(spelled(value)).toBe(true);
  });
});

it('twin: a value that nobody counts is seen', () => {
  expect(spelled('card_was_declined')).toBe(false);
});
