int main() {
    int* volatile values = new int[8]();
    volatile int position = 8; // one past the end
    volatile int found = values[position];
    delete[] values;
    return found & 0;
}
