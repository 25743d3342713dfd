import type { RequestHandler } from 'express';
import type { Exchange } from './exchange.ts';

/** An Express middleware that finds our `Exchange` in `response.locals`. */
export type Middleware = RequestHandler<Record<string, never>, unknown, unknown, unknown, Exchange>;
