/** Loaded before the service (`node --import`). Answers each message of the parent with the processor time in milliseconds. */
import process from 'node:process';

process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send?.((user + system) / 1_000);
});
process.on('disconnect', () => process.exit());
// The message listener alone must not keep the service running.
process.channel?.unref();
