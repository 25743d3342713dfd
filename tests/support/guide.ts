import { readFile } from 'node:fs/promises';

/** A fenced block of a guide. */
export interface Block {
  /** The first word after the fence: `bash`, `ts`, `diff`, `json`, `text`. */
  language: string;
  /** The file whose content or change it is. */
  file: string | undefined;
  /** Whether it is put at the end of that file. */
  isAtEnd: boolean;
  text: string;
  /** The line of its fence in the guide. */
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

/** Output that a guide shows, as a pattern: `…` matches anything. */
export function shownAs(text: string): RegExp {
  const parts = text
    .trim()
    .split('…')
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('[^]*?')}$`);
}
