import { describe, expect, test } from 'vitest';
import { CRASH_POINTS } from '../../../runtime/contract';
import { crashPoints } from '../../../runtime/host';
import { runCode } from './run-code';

describe('crash points', () => {
  test('do nothing unless one is armed', () => {
    const died: string[] = [];
    const reach = crashPoints(undefined, (line) => died.push(line));
    for (const point of CRASH_POINTS) reach(point);
    expect(died).toEqual([]);
  });

  test('strike at the armed point, at its n-th time, once', () => {
    const died: string[] = [];
    const reach = crashPoints({ point: 'after-save', nth: 2 }, (line) => died.push(line));
    reach('after-save');
    reach('after-confirm');
    expect(died).toEqual([]);
    for (let time = 0; time < 3; time += 1) reach('after-save');
    expect(died).toHaveLength(1);
    expect(died[0]).toContain('after-save');
  });

  test('kill the process as kill -9 does: nothing runs after it', async () => {
    const { ended } = runCode(`
      process.on('exit', () => console.log('exit handler'));
      host.crashPoints({ point: 'after-confirm', nth: 1 })('after-confirm');
      console.log('after the crash point');
    `);
    const { signal, out, err } = await ended;
    expect(signal).toBe('SIGKILL');
    expect(out).toBe('');
    expect(err).toContain('crash point after-confirm');
  });
});
