// Many blocks, so that a stale register or stack slot can't keep all of them reachable.
[[gnu::noinline]] void lose(int count) {
    for (int i = 0; i < count; ++i) {
        volatile char* block = new char[1000];
        block[0] = 1;
    }
}

int main() {
    lose(50);
}
