import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace';
import type { TracingConfig } from './tracing-config.ts';

/** The sampler that OTEL_TRACES_SAMPLER names. A `parentbased_…` sampler follows the decision of the parent span. */
export function samplerOf(config: TracingConfig): Sampler {
  const { OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: share } = config;
  const root = rootOf(name.replace('parentbased_', ''), share);
  return name.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root;
}

function rootOf(name: string, share: number): Sampler {
  if (name === 'always_off') return new AlwaysOffSampler();
  return name === 'traceidratio' ? new TraceIdRatioBasedSampler(share) : new AlwaysOnSampler();
}
