import { z } from 'zod';
import { flag, wholeNumber } from '../config/read-config.ts';

const address = z.url({ protocol: /^https?$/, error: 'an address is needed, http://host:4318' }).optional();
const count = wholeNumber(1, 1_000_000).optional();
const milliseconds = wholeNumber(0, 3_600_000).optional();

/**
 * OpenTelemetry's own variables, as far as Kith uses them. The table in docs/configuration.md is made from their descriptions.
 */
export const tracingConfig = z.object({
  OTEL_EXPORTER_OTLP_ENDPOINT: address.describe(
    'OTLP collector (HTTP, protobuf) to which traces are sent; if it is not set, nothing is traced',
  ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: address.describe(
    'the collector for traces alone, with the whole path; replaces `OTEL_EXPORTER_OTLP_ENDPOINT`',
  ),
  OTEL_EXPORTER_OTLP_HEADERS: z
    .string()
    .optional()
    .describe('headers for the collector, `name=value,…`; may be a secret'),
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: z
    .string()
    .optional()
    .describe(
      'headers for traces alone, `name=value,…`; added to `OTEL_EXPORTER_OTLP_HEADERS`; may be a secret',
    ),
  OTEL_TRACES_EXPORTER: z
    .enum(['otlp', 'none'])
    .optional()
    .describe(
      '`none` turns tracing off; `otlp` turns it on, even if no address is set (`http://localhost:4318` is then used)',
    ),
  OTEL_SDK_DISABLED: flag.default(false).describe('`true` turns tracing off'),
  OTEL_SERVICE_NAME: z
    .string()
    .optional()
    .describe('`service.name` of the spans; default: `kith-<service>`, or `kith` in the embedded form'),
  OTEL_RESOURCE_ATTRIBUTES: z
    .string()
    .optional()
    .describe('further attributes of the process, `name=value,…`'),
  OTEL_TRACES_SAMPLER: z
    .enum([
      'always_on',
      'always_off',
      'traceidratio',
      'parentbased_always_on',
      'parentbased_always_off',
      'parentbased_traceidratio',
    ])
    .default('parentbased_always_on')
    .describe('which traces are kept'),
  OTEL_TRACES_SAMPLER_ARG: z.coerce
    .number({ error: 'a number from 0 to 1 is needed' })
    .min(0, 'a number from 0 to 1 is needed')
    .max(1, 'a number from 0 to 1 is needed')
    .default(1)
    .describe('share of the traces that a `…traceidratio` sampler keeps, from 0 to 1'),
  OTEL_BSP_SCHEDULE_DELAY: milliseconds.describe('time between two exports, in ms (default 5000)'),
  OTEL_BSP_MAX_QUEUE_SIZE: count.describe(
    'maximum number of spans that wait for an export; further spans are dropped (default 2048)',
  ),
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: count.describe('maximum number of spans in one export (default 512)'),
  OTEL_BSP_EXPORT_TIMEOUT: milliseconds.describe('how long an export may take, in ms (default 30000)'),
});
export type TracingConfig = z.output<typeof tracingConfig>;

/** Whether the variables ask for traces, by an address or by the exporter's name. */
export function wantsTracing(config: TracingConfig): boolean {
  if (config.OTEL_SDK_DISABLED || config.OTEL_TRACES_EXPORTER === 'none') return false;
  return [
    config.OTEL_TRACES_EXPORTER,
    config.OTEL_EXPORTER_OTLP_ENDPOINT,
    config.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT,
  ].some((one) => one !== undefined);
}
