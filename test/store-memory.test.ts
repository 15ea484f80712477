import { exerciseStore } from './contract/index.ts';
import { openTestMemory } from './kit/memory.ts';

exerciseStore('memory', openTestMemory);
