import type { RequestHandler } from 'express';
import type { Exchange } from './exchange.ts';

/** An Express middleware over our own exchange. */
export type Middleware = RequestHandler<Record<string, never>, unknown, unknown, unknown, Exchange>;
