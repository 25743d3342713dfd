import { ROOT_CONTEXT, SpanKind, TraceFlags, trace } from '@opentelemetry/api';
import { SamplingDecision } from '@opentelemetry/sdk-trace';
import { describe, expect, test } from 'vitest';
import { readConfig } from '../config/read-config.ts';
import { samplerOf } from './sampler.ts';
import { tracingConfig, wantsTracing } from './tracing-config.ts';

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };

test.each([
  [{}, false],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: '' }, false],
  [{ OTEL_SERVICE_NAME: 'kith' }, false],
  [endpoint, true],
  [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://collector/v1/traces' }, true],
  [{ OTEL_TRACES_EXPORTER: 'otlp' }, true],
  [{ ...endpoint, OTEL_TRACES_EXPORTER: 'none' }, false],
  [{ ...endpoint, OTEL_SDK_DISABLED: 'true' }, false],
  [{ ...endpoint, OTEL_SDK_DISABLED: 'false' }, true],
])('with the variables %j, wantsTracing returns %s', (env, isOn) => {
  expect(wantsTracing(readConfig(tracingConfig, env))).toBe(isOn);
});

test.each([
  ['OTEL_EXPORTER_OTLP_ENDPOINT', { OTEL_EXPORTER_OTLP_ENDPOINT: 'user:secret@collector' }],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', { OTEL_EXPORTER_OTLP_ENDPOINT: 'grpc://secret:4317' }],
  ['OTEL_TRACES_EXPORTER', { OTEL_TRACES_EXPORTER: 'secret' }],
  ['OTEL_TRACES_SAMPLER', { OTEL_TRACES_SAMPLER: 'secret' }],
  ['OTEL_TRACES_SAMPLER_ARG', { OTEL_TRACES_SAMPLER_ARG: '2' }],
  ['OTEL_TRACES_SAMPLER_ARG', { OTEL_TRACES_SAMPLER_ARG: 'secret' }],
  ['OTEL_BSP_MAX_QUEUE_SIZE', { OTEL_BSP_MAX_QUEUE_SIZE: '0' }],
  ['OTEL_BSP_SCHEDULE_DELAY', { OTEL_BSP_SCHEDULE_DELAY: '-1' }],
])('the error for a wrong value of %s names the variable, and never quotes the value', (name, env) => {
  expect(() => readConfig(tracingConfig, env)).toThrow(new RegExp(`^${name}: (?!.*secret)`));
});

describe('the sampler', () => {
  const keeps = (env: NodeJS.ProcessEnv, parent?: 'kept' | 'dropped') => {
    const traceId = 'f'.repeat(32);
    const traceFlags = parent === 'kept' ? TraceFlags.SAMPLED : TraceFlags.NONE;
    const place = { traceId, spanId: '1'.repeat(16), traceFlags, isRemote: true };
    const context = parent ? trace.setSpanContext(ROOT_CONTEXT, place) : ROOT_CONTEXT;
    const sampler = samplerOf(readConfig(tracingConfig, env));
    const { decision } = sampler.shouldSample(context, traceId, 'name', SpanKind.SERVER, {}, []);
    return decision === SamplingDecision.RECORD_AND_SAMPLED;
  };

  // `keeps` uses the highest possible trace id. A sampler with a share below 1 drops the trace with this id.
  test.each([
    [{}, true, true, false],
    [{ OTEL_TRACES_SAMPLER: 'always_on' }, true, true, true],
    [{ OTEL_TRACES_SAMPLER: 'always_off' }, false, false, false],
    [{ OTEL_TRACES_SAMPLER: 'traceidratio' }, true, true, true],
    [{ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' }, false, false, false],
    [{ OTEL_TRACES_SAMPLER: 'parentbased_always_off' }, false, true, false],
    [{ OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' }, false, true, false],
    [{ OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '1' }, true, true, false],
  ])(
    'with the variables %j, keeps a new trace: %s, a span of a kept parent: %s, a span of a dropped parent: %s',
    (env, alone, kept, dropped) => {
      expect([keeps(env), keeps(env, 'kept'), keeps(env, 'dropped')]).toEqual([alone, kept, dropped]);
    },
  );
});
