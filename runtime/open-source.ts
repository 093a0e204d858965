/**
 * Opens the source that the configuration names. Each one is loaded only when it is wanted, so that nobody needs the SDK
 * of a cloud that they do not use.
 */
import type { Config } from './config';
import type { OpenedSource, SourceContext } from './opened-source';

export async function openSource(config: Config, context: SourceContext): Promise<OpenedSource> {
  switch (config.source) {
    case 'kinesis':
      return (await import('./open-kinesis.js')).openKinesis(config, context);
    case 'event-hubs':
      return (await import('./open-event-hubs.js')).openEventHubs(config, context);
  }
}
