import { readFile } from 'node:fs/promises';

/** A fenced block of a guide. */
export interface Block {
  /** The first word after the fence: `bash`, `ts`, `diff`, `json`, `text`. */
  language: string;
  /** The file whose content or change the block shows. */
  file: string | undefined;
  /** Whether the block is added at the end of this file. */
  isAtEnd: boolean;
  text: string;
  /** The line of the block's fence in the guide. */
  line: number;
}

/** Reads the fenced blocks of a guide in `docs`, in their order. */
export async function readBlocks(guide: string): Promise<Block[]> {
  const text = await readFile(new URL(`../../docs/${guide}`, import.meta.url), 'utf8');
  return [...text.matchAll(/^```(\w+)(?: (\S+))?( \(at the end\))?\n([\s\S]*?)^```$/gm)].map((match) => {
    const [, language = '', file, atEnd, content = ''] = match;
    const line = text.slice(0, match.index).split('\n').length;
    return { language, file, isAtEnd: atEnd !== undefined, text: content, line };
  });
}

/** Makes a pattern from output that a guide shows. In this output, `…` matches anything. */
export function shownAs(text: string): RegExp {
  const parts = text
    .trim()
    .split('…')
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('[^]*?')}$`);
}
